import type { CommandModule } from 'yargs'
import type { HostFailure } from '../remote/host.ts'
import { configOption, readConfig, readConfigAndAccess, refuseMissingFolders } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'
import { barProgress, lineProgress, noProgress, type Progress } from './progress.ts'
import { Tally } from './tally.ts'
import { count, printable, sizeInWords } from './wording.ts'

interface SyncArgs {
  config: string | undefined
  'dry-run': boolean
  json: boolean
}

export function syncCommand(exit: (code: number) => void): CommandModule<object, SyncArgs> {
  return {
    command: 'sync',
    describe: 'One complete pass, then exit',
    builder: command =>
      command
        .options({
          ...configOption,
          'dry-run': {
            type: 'boolean',
            default: false,
            describe: 'Print the plan with reasons; change nothing anywhere',
          },
          json: { type: 'boolean', default: false, describe: 'One summary object on standard output' },
        })
        .example('$0 sync -c albumd.yaml', 'Mirror now')
        .example('$0 sync -c albumd.yaml --dry-run', 'See what it would do'),
    handler: async args => exit(args['dry-run'] ? await preview(args) : await sync(args)),
  }
}

async function sync({ config: flag, json }: SyncArgs): Promise<number> {
  const { config, access } = readConfigAndAccess(flag)
  refuseMissingFolders(config)
  const { openState } = await import('../daemon/state.ts')
  const { openMirroring } = await import('../daemon/mirroring.ts')
  const { statusOf } = await import('../daemon/status.ts')
  const { verdictOn } = await import('../daemon/verdict.ts')
  const state = await openState(config)
  const progress = chooseProgress(json)
  const interrupts = onInterrupts(() => progress.say('stopping'))
  const done = new Tally()
  try {
    const temper = { patience: { attempts: 4, maxDelayMs: 2000 }, graceMs: 0 }
    const mirroring = openMirroring(config, access, state, temper, told => {
      done.add(told)
      // Why it stopped is said once, at the end.
      if (told.event !== 'uploads_stopped') progress.tell(told)
    })
    let stopped: HostFailure[]
    try {
      const [refusal, report] = await Promise.all([
        mirroring.greet(interrupts.cut),
        mirroring.pass(interrupts),
      ])
      stopped = distinct([...(refusal ? [refusal] : []), ...report.stopped])
    } finally {
      progress.end()
      await mirroring.close()
    }
    const status = statusOf(config, state.synced, true, Date.now())
    const exitCode = { in_sync: EXIT.inSync, left: EXIT.left, refused: EXIT.refused }[
      verdictOn(status, stopped)
    ]
    if (json) print({ exit_code: exitCode, ...done.counts, stopped, mirrors: status.mirrors })
    else report(done.inWords(status, stopped), stopped)
    return exitCode
  } finally {
    interrupts.dispose()
    state.close()
  }
}

function report(summary: string, stopped: readonly HostFailure[]): void {
  process.stdout.write(`${summary}\n`)
  for (const { code, message, remedy } of stopped)
    process.stderr.write(`albumd: ${printable(message)} (${code})${remedy === 'key' ? KEY_REMEDY : ''}\n`)
}

const KEY_REMEDY = '; check the key: host.api_key_file, $ALBUMD_API_KEY or the systemd credential "api-key"'

async function preview({ config: flag, json }: SyncArgs): Promise<number> {
  const config = readConfig(flag)
  refuseMissingFolders(config)
  const { previewPass } = await import('../daemon/preview.ts')
  const interrupts = onInterrupts()
  const plan = []
  try {
    for await (const operation of previewPass(config, interrupts)) {
      if (json) plan.push(operation)
      else {
        const what =
          'album' in operation
            ? `"${operation.album}"`
            : 'path' in operation
              ? operation.path
              : operation.mirror
        const size = 'size' in operation ? `, ${sizeInWords(operation.size)}` : ''
        const verb = operation.operation.replace('_', ' ')
        process.stdout.write(`${verb} ${printable(what)} (${printable(operation.reason)}${size})\n`)
        plan.push(null)
      }
    }
  } finally {
    interrupts.dispose()
  }
  if (json) print({ dry_run: true, plan })
  else
    process.stdout.write(
      `${plan.length === 0 ? 'nothing to do' : count(plan.length, 'operation')}; nothing was changed\n`,
    )
  return EXIT.inSync
}

function chooseProgress(json: boolean): Progress {
  if (json) return noProgress
  return process.stdout.isTTY ? barProgress(process.stdout) : lineProgress(process.stdout)
}

function distinct(failures: HostFailure[]): HostFailure[] {
  return [...new Map(failures.map(failure => [`${failure.code} ${failure.endpoint}`, failure])).values()]
}

function print(summary: object): void {
  process.stdout.write(`${JSON.stringify(summary)}\n`)
}
