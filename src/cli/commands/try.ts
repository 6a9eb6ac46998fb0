import { existsSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { RunningHost } from '../../host/embedded-host.ts'
import { ENDPOINTS } from '../../protocol/endpoints.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import type { Synced } from '../../synced/synced.ts'
import { count, countEach, inDigits, leftIn, shellWord } from '../../words/text.ts'
import { command, quietOption } from '../options.ts'
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
    progress.say('Stopped. Start it again and it goes on where it was.')
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
  const said = new Set<string | null>()
  bus.on('news', emitted => {
    if (emitted.event === 'picture_uploaded') latest = emitted.cdn_url
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
    if (passes++ > 0 || interrupts.stop.aborted) return
    const command = `${PROGRAM} ls --left-out --config ${shellWord(here(workspace.config))}`
    const leftOut = leftOutInWords(
      config.mirrors.map(mirror => ({ mirror, path: '' })),
      command,
    )
    progress.say(whatNext(workspace, synced, latest, page.pageUrl?.url ?? null, leftOut))
  })
  await supervise(config, access, bus, interrupts, { display: page })
}

function introduction({ folder, hostData }: Workspace, host: RunningHost): string {
  return [
    '',
    `  pictures    ${here(folder)}`,
    `  image host  ${host.baseUrl}  (its own, over TLS; without the 10 pictures a second of other hosts)`,
    `  its data    ${here(hostData)}`,
    '  deletions   wait 10 seconds here (deletions.grace), and 10 minutes by default',
    '',
  ].join('\n')
}

function whatNext(
  { folder, config, caFile, isSample }: Workspace,
  synced: Synced,
  latest: string | null,
  page: string | null,
  leftOut: readonly string[],
): string {
  const row = synced.mirrors.of(folder)
  const summary = synced.summaries.mirror(row?.id ?? 0)
  const left = countEach([summary.linked, 'linked by name'], ...leftIn([summary]))
  const status = `${PROGRAM} status --config ${shellWord(here(config))}`
  const url = latest ?? synced.images.latest()?.cdn_url
  return [
    '',
    `${inDigits(summary.synced)} of ${count(summary.files, 'picture')} on the host. albumd keeps watching; Ctrl-C stops it.`,
    ...(left.length > 0 ? [`Left: ${left.join(', ')}. The command below for how it stands says why.`] : []),
    ...leftOut,
    '',
    ...(page ? [`  in a browser    ${page}`] : []),
    `  how it stands   ${status}`,
    ...(url ? [`  one of them     curl --cacert ${shellWord(here(caFile))} -o picture ${url}`] : []),
    ...(isSample ? samplesNext(folder) : [`  next            drop a picture into ${here(folder)}`]),
    '',
  ].join('\n')
}

function samplesNext(folder: string): string[] {
  const [kite, another, sun] = ['Icons/Kite.svg', 'Another kite.svg', 'Icons/Sun.ico'].map(name =>
    join(folder, name),
  ) as [string, string, string]
  const word = (file: string) => shellWord(here(file))
  return [
    ...(existsSync(another) ? [] : [`  add one         cp ${word(kite)} ${word(another)}`]),
    ...(existsSync(sun) ? [`  delete one      rm ${word(sun)}    # its image goes ten seconds later`] : []),
  ]
}

function here(path: string): string {
  const below = relative(realpathSync(process.cwd()), path)
  return below && !below.startsWith('..') ? below : path
}
