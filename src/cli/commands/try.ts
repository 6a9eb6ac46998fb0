import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import type { RunningHost } from '../../host/embedded-host.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import type { Synced } from '../../synced/synced.ts'
import { count, countEach, inDigits, leftIn, shellWord } from '../../words/text.ts'
import { command, quietOption, wholeMirrors } from '../options.ts'
import { EXIT, Problem } from '../problem.ts'
import { PROGRAM, sayAside } from '../terminal/output.ts'
import { eventInWords, noProgress, Progress, progressOn, tellPass } from '../terminal/progress.ts'
import type { Workspace } from '../workspace.ts'

export const tryCommand = command(
  options =>
    options
      .positional('folder', { type: 'string', describe: 'Your own pictures; they are never changed' })
      .options(quietOption)
      .example('$0 try', 'With sample pictures')
      .example('$0 try ~/Pictures', 'With your own'),
  async ({ folder, quiet }, onInterrupts) => {
    const progress = quiet ? noProgress : await progressOn(process.stdout)
    const interrupts = onInterrupts(() => progress.say('Stopping; what is under way is finished first.'))
    const { openWorkspace } = await import('../workspace.ts')
    const workspace = await openWorkspace(process.cwd(), folder)
    const host = await startOwnHost(workspace)
    try {
      if (!interrupts.stop.aborted) progress.say(introduction(workspace, host))
      await mirror(workspace, progress, interrupts)
    } finally {
      progress.end()
      await host.close()
    }
    progress.say('Stopped.')
    return EXIT.inSync
  },
)

async function startOwnHost({ hostData, port, apiKey, folder }: Workspace): Promise<RunningHost> {
  const { startHost } = await import('../../host/embedded-host.ts')
  try {
    return await startHost({
      data: hostData,
      listen: { host: '127.0.0.1', port },
      apiKeys: [apiKey],
      plan: 'flagship',
      plansFrom: 'professional',
      requestsPerSecond: Object.fromEntries(ENDPOINTS.map(endpoint => [endpoint, Number.POSITIVE_INFINITY])),
      tls: true,
      onFault: fault => void process.stderr.write(`albumd: the image host: ${fault.message}\n`),
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'HOST_DATA_IN_USE')
      throw new Problem(`Another albumd tries ${here(folder)} already. Stop that one first`, EXIT.locked)
    if (code === 'EADDRINUSE')
      throw new Problem(`Port ${port} is taken. Stop what listens there, then start again`, EXIT.locked)
    throw error
  }
}

async function mirror(workspace: Workspace, progress: Progress, interrupts: Interruption): Promise<void> {
  const { readAccess, readConfig } = await import('../read-config.ts')
  const config = await readConfig(workspace.config)
  const access = readAccess(config)
  const lines = progress === noProgress ? noProgress : new Progress(process.stdout, null)
  const { Bus } = await import('../../daemon/events.ts')
  const { supervise } = await import('../../daemon/loop/supervisor.ts')
  const { leftOutInWords } = await import('../terminal/left-out.ts')
  const { StatusPage } = await import('../../page/status-page.ts')
  const { systemClock } = await import('../../protocol/clock.ts')
  const bus = new Bus()
  let passes = 0
  let latest: string | null = null
  let stopped = false
  const said = new Set<string | null>()
  bus.on('news', emitted => {
    if (emitted.event === 'picture_uploaded') latest = emitted.cdn_url
    if (emitted.event === 'mirror_guarded' || emitted.event === 'deletions_held') stopped = true
    const shown = 'mirror' in emitted ? { ...emitted, mirror: here(emitted.mirror) } : emitted
    // After the first pass the counts of each scan are left out, because the lines for single pictures say more.
    // The first pass may look twice, and what it finds again is said once.
    const line =
      emitted.event === 'scan_finished' || emitted.event === 'picture_waits' ? eventInWords(shown) : null
    if (line !== null && said.has(line)) return
    said.add(line)
    if (passes === 0) tellPass(progress, shown)
    else if (emitted.event !== 'scan_finished' && emitted.event !== 'uploads_started') tellPass(lines, shown)
  })
  bus.on('say', line => (progress === noProgress ? sayAside(line) : progress.say(line)))
  const page = new StatusPage(systemClock, bus)
  bus.on('passEnded', synced => {
    progress.end()
    const row = synced.mirrors.of(workspace.folder)
    if (stopped && row?.guard === null && synced.summaries.mirror(row.id).held_deletions === 0) {
      stopped = false
      progress.say('over: nothing is guarded or held any more')
    }
    if (passes++ > 0 || interrupts.stop.aborted) return
    const leftOut = leftOutInWords(wholeMirrors(config), null, commandFor('ls --left-out', workspace.config))
    progress.say(whatNext(workspace, synced, latest, page.pageUrl?.url ?? null, leftOut))
  })
  await supervise(config, access, bus, interrupts, { display: page })
}

function introduction({ folder, config, hostData, caFile }: Workspace, host: RunningHost): string {
  return [
    '',
    `  pictures    ${here(folder)}`,
    `  image host  ${host.baseUrl}, with no limit of 10 pictures a second`,
    `  its data    ${here(hostData)}; curl --cacert ${shellWord(here(caFile))} trusts it`,
    `  config      ${here(config)}`,
    '  deletions   wait 10 seconds here (deletions.grace), and 10 minutes by default',
    '',
  ].join('\n')
}

function whatNext(
  { folder, config, isSample }: Workspace,
  synced: Synced,
  latest: string | null,
  page: string | null,
  leftOut: readonly string[],
): string {
  const row = synced.mirrors.of(folder)
  const summary = synced.summaries.mirror(row?.id ?? 0)
  const left = countEach([summary.linked, 'linked by name'], ...leftIn([summary]))
  const url = latest ?? synced.images.latest()?.cdn_url
  return [
    '',
    `${inDigits(summary.synced + summary.linked)} of ${count(summary.files, 'picture')} on the host, and albumd keeps watching.`,
    ...(left.length > 0 ? [`Left: ${left.join(', ')}. "${commandFor('status', config)}" says why`] : []),
    ...leftOut,
    '',
    ...(page ? [`  page     ${page}`] : []),
    ...(url ? [`  picture  ${url}`] : []),
    `  try      add a picture to ${here(folder)}${isSample ? ', or delete one' : ''}`,
    '  stop     Ctrl-C; started again, it goes on where it was',
    '',
  ].join('\n')
}

function commandFor(command: string, config: string): string {
  return `${PROGRAM} ${command} -c ${shellWord(here(config))}`
}

function here(path: string): string {
  const below = relative(realpathSync(process.cwd()), path)
  return below && !below.startsWith('..') ? below : path
}
