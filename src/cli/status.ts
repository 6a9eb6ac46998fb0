import { auditInWords } from '../daemon/audit-status.ts'
import { localTime } from '../daemon/local-time.ts'
import type { MirrorStatus, Status } from '../daemon/status.ts'
import type { PageNow } from '../page/ask.ts'
import { fullPath } from '../sync/tree-path.ts'
import type { CommandWork } from './command-work.ts'
import { configOption, readConfig } from './config-option.ts'
import { EXIT } from './exit-codes.ts'
import { onInterrupts } from './interrupts.ts'
import { jsonOption } from './json-option.ts'
import { pageInWords } from './page-in-words.ts'
import { quotaInWords } from './quota-in-words.ts'
import { sayStateTrouble } from './say-state-trouble.ts'
import { watchingInWords } from './watching-in-words.ts'
import { count, printable } from './wording.ts'
import { writeOut } from './write-out.ts'

interface StatusArgs {
  config: string | undefined
  json: boolean
  watch: boolean
}

const WATCH_EVERY_MS = 1000

export function statusCommand(exit: (code: number) => void): CommandWork<StatusArgs> {
  return {
    builder: command =>
      command
        .options({
          ...configOption,
          ...jsonOption,
          watch: { type: 'boolean', default: false, describe: 'Show it again every second, until Ctrl-C' },
        })
        .example('$0 status -c albumd.yaml', 'How things stand'),
    handler: async args => {
      const config = await readConfig(args.config)
      await sayStateTrouble(config)
      const { readStatus } = await import('../daemon/status.ts')
      const { systemClock } = await import('../sync/clock.ts')
      const { askPage } = await import('../page/ask.ts')
      const show = async () => {
        const status = readStatus(config, Date.now())
        const now = status.running ? await askPage(config) : null
        const { page = null, uploading = [] } = now ?? {}
        return args.json ? `${JSON.stringify({ ...status, page, uploading })}\n` : inWords(status, now)
      }
      if (!args.watch) process.stdout.write(await show())
      const interrupts = args.watch ? onInterrupts() : null
      const clear = process.stdout.isTTY && !args.json ? '\u001b[H\u001b[2J' : ''
      while (interrupts && !interrupts.stop.aborted) {
        if (!(await writeOut(process.stdout, [clear + (await show())]))) break
        await systemClock.sleep(WATCH_EVERY_MS, interrupts.stop)
      }
      interrupts?.dispose()
      exit(EXIT.inSync)
    },
  }
}

function inWords(status: Status, now: PageNow | null): string {
  const lines = [
    status.running ? `albumd ${status.version} is running (pid ${status.pid})` : 'albumd is not running',
  ]
  if (status.other_config) {
    const again = status.pid === null ? 'it' : `it (kill -HUP ${status.pid})`
    lines.push(
      `config  it runs with another config than this one; let it read ${again}: its log says what it refuses`,
    )
  }
  for (const mirror of status.mirrors) lines.push('', ...mirrorInWords(mirror))
  lines.push('', ...quotaInWords(status), ...watchingInWords(status.watching))
  if (status.uploads_wait_until) lines.push(`uploads wait until ${clockTime(status.uploads_wait_until)}`)
  lines.push(...pageInWords(now))
  if (status.mirrors.some(({ held_deletions }) => held_deletions > 0))
    lines.push('held    what is held waits for your word: albumd deletions list')
  const audit = auditInWords(status.audit)
  if (audit) lines.push(`audit   ${audit}`)
  for (const { endpoint, code, message, said_at } of status.blocks)
    lines.push(`blocked ${endpoint}: ${printable(message)} (${code}; said at ${localTime(said_at)})`)
  for (const { mirror, path, code, message } of status.failures) {
    // Of one mirror the path below it is enough; its root has none.
    const at = status.mirrors.length > 1 || path === '' ? fullPath(mirror, path) : path
    lines.push(`failed  ${printable(at)}: ${printable(message)} (${code})`)
  }
  return `${lines.join('\n')}\n`
}

/** By this machine's clock, as `uploads.hours` are. */
function clockTime(time: string): string {
  const at = new Date(time)
  return `${at.getHours()}`.padStart(2, '0').concat(':', `${at.getMinutes()}`.padStart(2, '0'))
}

function mirrorInWords(mirror: MirrorStatus): string[] {
  const { files, synced, linked, left_out, left_out_with_image: withImage, perhaps_renamed: renamed } = mirror
  const rest = (
    [
      ['to upload', mirror.pending_uploads],
      ['failed', mirror.failed],
      ['uncertain', mirror.uncertain],
      ['to delete', mirror.pending_deletions],
      ['held', mirror.held_deletions],
    ] as const
  ).flatMap(([what, n]) => (n > 0 ? [`${n} ${what}`] : []))
  const left = Object.entries(left_out).flatMap(([why, n]) => (n > 0 ? [`${n} ${why}`] : []))
  return [
    `${printable(mirror.folder)} → ${mirror.album === '' ? 'the root' : `"${mirror.album}"`}: ${mirror.state}`,
    ...(mirror.reason ? [`        ${printable(mirror.reason)}`] : []),
    `        ${[`${synced + linked} of ${count(files, 'picture')} on the host`, ...rest].join(', ')}`,
    ...(linked > 0 ? [`        ${linkedInWords(linked)}`] : []),
    ...(left.length > 0 ? [`        left out: ${left.join(', ')}`] : []),
    ...(withImage > 0 ? [`        ${keepingInWords(withImage)}`] : []),
    ...(renamed > 0 ? [`        ${perhapsRenamedInWords(renamed)}`] : []),
  ]
}

function linkedInWords(pictures: number): string {
  const bytes = pictures === 1 ? 'its bytes are' : 'their bytes are'
  return `${pictures} of them linked to images that were there: ${bytes} not compared yet; "albumd adopt --verify" does`
}

function keepingInWords(pictures: number): string {
  const keep = pictures === 1 ? 'keeps its image' : 'keep their images'
  return `${count(pictures, 'picture')} left out ${keep}; "albumd sync --prune-ignored" gives up those that a rule hides`
}

function perhapsRenamedInWords(pictures: number): string {
  const keep = pictures === 1 ? 'is missing and keeps its image' : 'are missing and keep their images'
  return `${count(pictures, 'picture')} ${keep}: not known whether gone, while a name in the folder is not valid UTF-8 (see below); rename that`
}
