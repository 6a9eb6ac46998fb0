import { KEY_REMEDY } from '../../config/host-access.ts'
import type { AuditFinding, AuditResult } from '../../daemon/commands/audit.ts'
import type { Verdict } from '../../daemon/report/status.ts'
import { inWords } from '../../words/reasons.ts'
import { carryOut, sayAside, silently } from '../carry-out.ts'
import { EXIT } from '../exit-codes.ts'
import { command, configOption, jsonOption, readConfig } from '../options.ts'
import { auditProgress } from '../terminal/audit-progress.ts'
import { paint } from '../terminal/output.ts'
import { type Column, tableLines, widthOf } from '../terminal/table.ts'
import { count, failureInWords, printable } from '../words/wording.ts'

export const auditCommand = command(
  options =>
    options
      .options({
        ...configOption,
        repair: {
          type: 'boolean',
          default: false,
          describe: 'Upload what is gone; delete what is there twice and known to be ours',
        },
        ...jsonOption,
      })
      .example('$0 audit', 'What is gone, changed, foreign or there twice')
      .example('$0 audit --repair', 'Put right what can be put right'),
  async ({ config: flag, repair, json }, onInterrupts) => {
    const config = await readConfig(flag)
    if (repair) (await import('../read-config.ts')).refuseMissingFolders(config)
    const interrupts = onInterrupts(() => sayAside('stopping'))
    const progress = json ? null : await auditProgress(process.stderr)
    const output = {
      ...silently,
      progress: (done: number, albums: number) => progress?.compared(done, albums),
    }
    try {
      const { result, verdict } = await carryOut(config, 'audit', { repair }, output, interrupts)
      progress?.end()
      if (result === null) sayAside('nothing is recorded yet: run "albumd sync" or "albumd adopt" first')
      if (json) process.stdout.write(`${JSON.stringify(inJson(result ?? NOTHING))}\n`)
      else if (result) report(result, repair)
      // A repair includes a pass, and the exit code is then the one of the pass. This line explains exit code 3.
      if (!json && result?.stopped.length === 0 && verdict === 'left')
        process.stdout.write(`${NOT_IN_SYNC}\n`)
      return exitCodeOf(result ?? NOTHING, verdict)
    } finally {
      progress?.end()
    }
  },
)

function exitCodeOf({ complete, findings, stopped }: AuditResult, verdict: Verdict): number {
  if (verdict === 'refused' || stopped.some(({ remedy }) => remedy === 'key')) return EXIT.refused
  const left = findings.some(({ repaired }) => !repaired)
  return !complete || left || stopped.length > 0 || verdict === 'left' ? EXIT.left : EXIT.inSync
}

function inJson({ complete, albums, findings, skipped, withheld, stopped }: AuditResult): object {
  const repaired = findings.filter(finding => finding.repaired).length
  return { complete, albums, findings, repaired, skipped, withheld, stopped: stopped.map(failureInWords) }
}

function report(
  { complete, albums, skipped, findings, withheld, stopped }: AuditResult,
  repair: boolean,
): void {
  const rows = findings.map(finding => [
    finding.kind,
    printable(finding.album === '' ? finding.name : `${finding.album}/${finding.name}`),
    printable(finding.image_id),
    `${printable(finding.detail)}; ${whatToDo(finding)}`,
  ])
  const table = tableLines(COLUMNS, rows, { width: widthOf(process.stdout), paint: paintTitle })
  process.stdout.write([...table].join(''))
  for (const { album, reason } of skipped)
    process.stdout.write(`not compared: ${printable(album || 'the root')}: ${printable(reason)}\n`)
  if (withheld > 0)
    process.stdout.write(
      `${count(withheld, 'image')} would be deleted: more than deletions.hold_min, so none was; raise it to let them go\n`,
    )
  if (albums > 0 || complete) process.stdout.write(`${summary(albums, findings, repair)}\n`)
  for (const { code, message, remedy } of stopped)
    process.stderr.write(
      `albumd: ${printable(inWords(message))} (${code})${remedy === 'plan' ? NEEDS_LIST : remedy === 'key' ? `; ${KEY_REMEDY}` : ''}\n`,
    )
  if (!complete && stopped.length === 0 && skipped.length === 0)
    process.stderr.write('albumd: the audit was stopped; the next one goes on where it was\n')
}

const COLUMNS: readonly Column[] = [
  { title: 'FOUND', least: 7, cut: 'end' },
  { title: 'IMAGE', least: 10, cut: 'middle' },
  { title: 'ID', least: 8, cut: 'end', spare: true },
  { title: 'WHAT TO DO', least: 17, cut: 'wrap' },
]

function paintTitle(shown: string, _: number, row: readonly string[] | null): string {
  return row === null ? paint('bold', shown) : shown
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
const NOT_IN_SYNC = 'not everything is in sync (albumd status tells more)'
const NEEDS_LIST = '; an audit compares listings, and waits for a plan that has them'

function summary(albums: number, findings: readonly AuditFinding[], repair: boolean): string {
  const repaired = findings.filter(finding => finding.repaired).length
  const left = findings.length - repaired
  const found = findings.length === 0 ? 'nothing found' : `${count(left, 'finding')} left`
  return `${count(albums, 'album')} compared: ${found}${repair ? `, ${repaired} repaired` : ''}`
}

function whatToDo({ kind, ours, repaired }: AuditFinding): string {
  if (repaired) return kind === 'gone' ? 'its file, where it is there, is uploaded again' : 'deleted'
  switch (kind) {
    case 'gone':
      return '"albumd audit --repair" uploads it again'
    case 'changed':
      return 'put it right on the host, or delete it there and run "albumd audit --repair"'
    case 'foreign':
      return 'leave it: it may be the only image of a picture that waits; albumd never deletes it'
    case 'twice':
      return ours ? '"albumd audit --repair" deletes it' : 'look at both, and remove one on the host'
  }
}
