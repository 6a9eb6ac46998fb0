import { keyRemedy } from '../../config/host-access.ts'
import type { AuditFinding, AuditResult } from '../../daemon/commands/audit.ts'
import type { Verdict } from '../../daemon/report/status.ts'
import { count, localTimeFrom, printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { refusalInJson, sayStopped, Tally, TELLS_MORE } from '../one-pass.ts'
import { configCommand, flag, jsonOption, quietOption } from '../options.ts'
import { EXIT } from '../problem.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'
import { noProgress, progressOn } from '../terminal/progress.ts'

const LINE_EVERY_MS = 10_000

export const auditCommand = configCommand(
  options =>
    options
      .options({
        repair: flag('Upload what is gone; delete what is there twice and known to be ours'),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 audit', 'What is gone, changed, foreign or there twice')
      .example('$0 audit --repair', 'Put right what can be put right'),
  async (config, { repair, json, quiet }, onInterrupts) => {
    if (repair) (await import('../read-config.ts')).refuseMissingFolders(config)
    const interrupts = onInterrupts(() => sayAside('stopping'))
    const bar = json || quiet ? noProgress : await progressOn(process.stderr)
    let begun = false
    let saidAt = performance.now()
    const progress = (done: number, albums: number) => {
      // The first count may be above 0, because an audit may continue an earlier one.
      if (begun) bar.reach(done)
      else bar.start({ noun: 'album', total: albums, before: done, bytes: null })
      begun = true
      if (json || quiet || bar.hasBar || performance.now() - saidAt < LINE_EVERY_MS) return
      saidAt = performance.now()
      sayAside(`compared ${bar.inWords()}`)
    }
    try {
      const { result: audited, byDaemon } = await carryOut(config, 'audit', { repair }, interrupts, {
        progress,
      })
      const { result, verdict, left } = audited
      bar.end()
      if (result === null) sayAside('Nothing is recorded yet. Run "albumd sync" or "albumd adopt" first')
      if (json) printJson(inJson(result ?? NOTHING))
      else if (result) report(result, repair, quiet, keyRemedy(config, byDaemon ? null : process.env))
      // A repair includes a pass, whose exit code then counts. This line explains exit code 3.
      const all = new Tally().leftInWords(left, { leavesDeletions: !byDaemon })
      if (!json && all) printLine(`${all}. ${TELLS_MORE}`)
      return exitCodeOf(result ?? NOTHING, verdict)
    } finally {
      bar.end()
    }
  },
)

function exitCodeOf({ complete, findings, stopped }: AuditResult, verdict: Verdict): number {
  if (verdict === 'refused' || stopped.some(({ remedy }) => remedy === 'key')) return EXIT.refused
  const left = findings.some(({ repaired, lost }) => !repaired && !lost)
  return !complete || left || stopped.length > 0 || verdict === 'left' ? EXIT.left : EXIT.inSync
}

function inJson({ complete, albums, findings, skipped, withheld, stopped }: AuditResult): object {
  const repaired = findings.filter(finding => finding.repaired).length
  return { complete, albums, findings, repaired, skipped, withheld, stopped: stopped.map(refusalInJson) }
}

function report(
  { complete, albums, skipped, findings, withheld, stopped }: AuditResult,
  repair: boolean,
  quiet: boolean,
  key: string,
): void {
  sayStopped(stopped, {
    key,
    plan: 'an audit compares listings, and waits for a plan that has them',
    away: 'run "albumd audit" again later, which goes on where this one ended',
  })
  for (const finding of findings) {
    const { kind, album, name, image_id, detail } = finding
    const image = `${album === '' ? name : `${album}/${name}`} (${image_id})`
    const todo = kind === 'foreign' ? '' : `; ${whatToDo(finding, repair)}`
    printLine(`${kind.padEnd(8)}${printable(`${image}: ${detail}`)}${todo}`)
  }
  const foreign = findings.find(({ kind }) => kind === 'foreign')
  if (foreign) printLine(`foreign: ${whatToDo(foreign, repair)}`)
  for (const { album, reason } of skipped)
    printLine(`not compared, ${printable(album || 'the root')}: ${printable(reason)}`)
  if (withheld > 0)
    printLine(
      `${count(withheld, 'image')} would be deleted: more than deletions.hold_min, so none was; raise it to let them go`,
    )
  if ((albums > 0 || complete) && !quiet) printLine(summary(albums, findings, repair))
  if (!complete && stopped.length === 0 && skipped.length === 0)
    sayAside('the audit was stopped; the next one goes on where it was')
}

const NOTHING: AuditResult = {
  finished: false,
  complete: false,
  albums: 0,
  skipped: [],
  findings: [],
  withheld: 0,
  stopped: [],
}

function summary(albums: number, findings: readonly AuditFinding[], repair: boolean): string {
  const waiting = findings.filter(finding => finding.waits).length
  const repaired = findings.filter(finding => finding.repaired).length
  const lost = findings.filter(finding => finding.lost).length
  const left = findings.length - repaired - lost
  const found = findings.length === 0 ? 'no difference' : `${count(left, 'finding')} left`
  return `${count(albums, 'album')} compared: ${found}${repair && findings.length > 0 ? `, ${repaired - waiting} repaired` : ''}${waiting > 0 ? `, ${waiting} to be uploaded again` : ''}${lost > 0 ? `, ${count(lost, 'image')} lost` : ''}`
}

const REPAIRS_GONE = '"albumd audit --repair" uploads it again, or forgets it where its picture is gone'

/** What a person can do about a finding. `repair`: the audit was told to repair, so the words do not advise that. */
function whatToDo({ kind, ours, repaired, waits, lost, repair_from }: AuditFinding, repair: boolean): string {
  if (lost)
    return 'lost: nothing here has its bytes. If that was not on purpose, put its file back from a backup'
  if (waits) return 'its file waits to be uploaded again: "albumd status" says for what'
  if (repaired)
    return kind === 'gone' ? 'its file is uploaded again, or linked to an image of the same bytes' : 'deleted'
  switch (kind) {
    case 'gone':
      if (repair_from !== null)
        return `${REPAIRS_GONE}, not before ${localTimeFrom(repair_from)}, because until then the host may only be late to list it`
      return repair
        ? 'not uploaded again: what the host lists was not clear, or the repair ended early'
        : REPAIRS_GONE
    case 'changed':
      return `put it right on the host, or delete it there and ${repair ? 'repair again' : 'run "albumd audit --repair"'}`
    case 'foreign':
      return 'another program sent these, or their record was lost; albumd never deletes them'
    case 'twice':
      if (!ours) return 'look at both, and remove one on the host'
      return repair
        ? 'not deleted: "albumd status" says what deletions wait for'
        : '"albumd audit --repair" deletes it'
  }
}
