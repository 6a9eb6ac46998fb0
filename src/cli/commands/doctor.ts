import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Finding, fail, warn } from '../../daemon/doctor/finding.ts'
import { count, printable } from '../../words/text.ts'
import { command, configOption, flag, jsonOption } from '../options.ts'
import { EXIT } from '../problem.ts'
import { paint, printJson, printLine } from '../terminal/output.ts'

export const doctorCommand = command(
  options =>
    options
      .options({ ...configOption, all: flag('Show what passed too'), ...jsonOption })
      .example('$0 doctor', 'What is wrong, and what to do')
      .example('sudo -u albumd $0 doctor -c /etc/albumd/config.yaml', 'As the user that the service runs as')
      .epilogue('It changes nothing, here or on the host.'),
  async ({ config, all, json }, onInterrupts) => {
    const { stop } = onInterrupts()
    const findings: Finding[] = []
    for await (const finding of findingsOf(config, stop)) findings.push(finding)
    const exitCode = Math.max(exitCodeOf(findings), stop.aborted ? EXIT.left : EXIT.inSync)
    if (json) printJson({ exit_code: exitCode, findings })
    else for (const line of findingsInWords(findings, stop.aborted, all)) printLine(line)
    return exitCode
  },
)

/** All findings. Mistakes in the config are the last finding, because all other checks need the config. */
export async function* findingsOf(flag: string | undefined, signal: AbortSignal): AsyncGenerator<Finding> {
  const { ConfigError, problemLine } = await import('../../config/config-error.ts')
  const { findConfig } = await import('../../config/config-file.ts')
  const { checkConfigFile, examine } = await import('../../daemon/doctor/examine.ts')
  const { readConfig } = await import('../read-config.ts')
  try {
    const file = findConfig(process.env, process.cwd(), flag)
    const config = await readConfig(file)
    yield checkConfigFile(file)
    if (process.getuid?.() === 0) yield* findingsOfService(resolve(file))
    const askDaemon = async () => (await import('../../page/ask.ts')).askPage(config)
    yield* examine(file, config, process.env, signal, askDaemon)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems)
      yield {
        check: 'config',
        status: 'fail',
        message: problemLine(problem),
        remedy: 'config.example.yaml says what each key is for; albumd init writes a config',
        code: 'CONFIG',
      }
  }
}

/** What keeps the machine's service from its work, although root may read everything. Nothing, where none is installed. */
async function* findingsOfService(config: string): AsyncGenerator<Finding> {
  const { isCurrent, servicePlace } = await import('../service/place.ts')
  const { readinessOf } = await import('../service/install.ts')
  const account = /^\/etc\/albumd\/([\w.]+)\/config\.yaml$/.exec(config)?.[1] ?? null
  const place = servicePlace(false, account, process.env)
  if (place.config !== config || !existsSync(place.file)) return
  if (!isCurrent(place))
    yield warn('service', `${place.file} is not of this albumd`, 'albumd service install renews it')
  const { missing, warnings } = readinessOf(place, [])
  for (const line of missing) yield fail('service', line)
  for (const line of warnings) yield warn('service', line)
}

const KEY_REFUSED = ['INVALID_API_KEY', 'MISSING_API_KEY', 'OTHER_ACCOUNT']

export function exitCodeOf(findings: readonly Finding[]): number {
  const failed = findings.filter(({ status }) => status === 'fail')
  if (failed.length === 0) return EXIT.inSync
  if (failed.some(({ code }) => code === 'CONFIG')) return EXIT.usage
  return failed.some(({ code = '' }) => KEY_REFUSED.includes(code)) ? EXIT.refused : EXIT.left
}

const COLOURS = { pass: 'green', warn: 'yellow', fail: 'red' } as const

function inWords({ check, status, message, remedy }: Finding): string {
  const mark = paint(COLOURS[status], status)
  const line = `${mark}  ${check.replace('_', ' ').padEnd(10)}  ${printable(message)}`
  return remedy === null || status === 'pass' ? line : `${line}\n${' '.repeat(18)}→ ${printable(remedy)}`
}

/** The findings as lines. The sum comes first, because most people look only for that. */
export function findingsInWords(findings: readonly Finding[], brokenOff: boolean, all: boolean): string[] {
  const of = (status: Finding['status']) => findings.filter(finding => finding.status === status).length
  const counts = [
    `${of('pass')} passed`,
    ...(of('warn') > 0 ? [paint('yellow', count(of('warn'), 'warning'))] : []),
    ...(of('fail') > 0 ? [paint('red', `${of('fail')} failed`)] : []),
  ]
  const shown = all ? findings : findings.filter(({ status }) => status !== 'pass')
  return [`${brokenOff ? 'broken off; so far ' : ''}${counts.join(', ')}`, ...shown.map(inWords)]
}
