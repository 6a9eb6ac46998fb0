import { keyRemedy } from '../config/host-access.ts'
import { type Check, checksOf, type HealthConfig, isForPerson } from '../daemon/notify/health.ts'
import { type AlikeFailures, alikeFailures } from '../daemon/report/failures.ts'
import { type MirrorStatus, waitsInWords } from '../daemon/report/mirror-status.ts'
import { whatBacklogTakes } from '../daemon/report/quota-status.ts'
import type { AuditStatus, Status } from '../daemon/report/status.ts'
import type { PageNow } from '../page/ask.ts'
import { systemClock } from '../protocol/clock.ts'
import { fullPath, nameOf } from '../sync/tree-path.ts'
import {
  because,
  blockInWords,
  commandOf,
  hostRefusesKey,
  inWords,
  machineInWords,
  quotaRemedy,
} from '../words/reasons.ts'
import {
  alteredInWords,
  clockTime,
  count,
  countEach,
  countLeftOut,
  inDigits,
  leftIn,
  localTime,
  localTimeFrom,
  printable,
  shellWord,
  sizeInWords,
} from '../words/text.ts'
import { paint } from './terminal/output.ts'

/** The most groups of failures that are shown, and the most names of each. After an accident there may be thousands, and the
 * lines above must stay on the screen. */
const FAILURES_SAID = 20
const NAMED = 8

/** The labels of the rows of the table of checks. Others belong to the lines of a mirror, the host or a failure. */
const LABELS: Readonly<Record<string, string>> = {
  CONFIG: 'config',
  OTHER_CONFIG: 'config',
  KEY: 'key',
  HELD: 'held',
  MANY: 'many',
  LOSS: 'state',
  WATCH_LOST: 'watch',
  USED_UP_EARLY: 'limit',
  UPLOAD_COMMAND: 'notify',
  TROUBLE_COMMAND: 'notify',
  HEARTBEAT: 'notify',
  STORE_AWAY: 'store',
}

/** How grave something is: red where a person must act, yellow where albumd goes on by itself. */
const COLOURS = { act: 'red', waits: 'yellow' } as const
type Grave = keyof typeof COLOURS

/** A line with its label, in the column of labels. */
function labelled(label: string, said: string, grave?: Grave): string {
  const padded = label.padEnd(8)
  return `${grave ? paint(COLOURS[grave], padded) : padded}${said}`
}

/** The status for a person. `file`: the config's file. `now`: what the page of a running daemon tells. Null: no daemon runs. */
export function statusInWords(
  status: Status,
  config: HealthConfig,
  file: string,
  now: PageNow | null = null,
): string {
  const { running, pid } = status
  const lines = [
    running
      ? `albumd ${status.version} is running${pid === null ? '' : ` (pid ${pid})`}`
      : status.waits_for?.code === 'LOCKED'
        ? 'no albumd runs with this state_dir'
        : 'albumd is not running',
  ]
  for (const [at, mirror] of status.mirrors.entries()) {
    const isSaid = status.mirrors[at - 1]?.reason === mirror.reason
    lines.push(...(at > 0 ? [''] : []), ...mirrorInWords(mirror, status, isSaid))
  }
  for (const { folder, images } of status.removed)
    lines.push(
      `${count(images, 'image')} of ${printable(folder)}, which is in no mirror now, ${images === 1 ? 'stays' : 'stay'} on the host`,
    )
  lines.push('', ...quotaInWords(status, now?.rate.pictures), ...machinesInWords(status))
  lines.push(...checksOf(status, config, systemClock.wall(), file).flatMap(checkInWords))
  const polled = status.watching?.polled_folders ?? []
  if (polled.length > 0)
    lines.push(labelled('watch', printable(inWords(because('folders_polled', { polled })))))
  if (status.uploads_wait_until) lines.push(`uploads wait until ${clockTime(status.uploads_wait_until)}`)
  lines.push(...pageInWords(now, status.paused !== null), ...backInWords(status))
  lines.push(...auditInWords(status.audit).map((said, at) => labelled(at === 0 ? 'audit' : '', said)))
  const altered = alteredInWords(status.delivery)
  if (altered) lines.push(labelled('host', `delivers ${altered}`))
  lines.push(...blocksInWords(status.blocks, keyRemedy(config, running ? null : process.env)))
  const goOn = because('run_sync')
  if (waitsForCommand(status)) lines.push(labelled('next', `${inWords(goOn)}: ${commandOf(goOn)}`))
  lines.push(...failuresInWords(status))
  return `${lines.join('\n')}\n`
}

function checkInWords(check: Check): string[] {
  const label = LABELS[check.code]
  if (!label) return []
  const grave = check.isAlert && isForPerson(check) ? 'act' : 'waits'
  const remedy = check.remedy === null ? [] : [labelled('', printable(check.remedy))]
  return [labelled(label, printable(check.look), grave), ...remedy]
}

function failuresInWords(status: Status): string[] {
  // The lines of a mirror already say why its first folder is in doubt.
  const told = new Set(status.mirrors.map(({ doubt }) => doubt))
  const untold = status.failures.filter(({ mirror, path }) => !told.has(fullPath(mirror, path)))
  const groups = alikeFailures(untold)
  const shown = groups.slice(0, FAILURES_SAID)
  const all = status.mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0)
  const named = shown.reduce((sum, { all }) => sum + Math.min(all.length, NAMED), 0)
  const more = Math.max(all, status.failures.length) - (status.failures.length - untold.length) - named
  return [
    ...shown.flatMap(group => failureInWords(group, status)),
    ...(more > 0
      ? [labelled('', `${inDigits(more)} not named here: "albumd status --json" names up to 1,000`)]
      : []),
  ]
}

/** Whether only a command goes on: without albumd nobody notices that a trouble passes, such as a host that is away. */
function waitsForCommand({ running, paused, waits_for, blocks, mirrors }: Status): boolean {
  const isFree = !running && paused === null && waits_for === null
  const isToSend = mirrors.some(({ waits }) => waits.some(({ code }) => code === 'run_sync'))
  return isFree && (isToSend || blocks.some(({ needs_person }) => !needs_person))
}

function failureInWords(
  { full, path, message, all: [first, ...others] }: AlikeFailures,
  { mirrors, running }: Status,
): string[] {
  const { code, in_doubt, needs_person } = first
  const many = others.length > 0
  // With one mirror, the path below the mirror's folder is enough. The folder itself has the path ''.
  const at = printable(mirrors.length > 1 || path === '' ? full : path)
  const tries = [first, ...others].flatMap(({ next_attempt_at }) => next_attempt_at ?? []).sort()
  // An upload in doubt may have arrived, so it does not count as failed.
  const isUnsure = code === 'UNCERTAIN'
  const noun = in_doubt && !isUnsure ? 'folder' : 'picture'
  const what = `${at}${many ? ` (${count(others.length + 1, noun)})` : ''}: ${printable(message)}`
  const names = [first, ...others].slice(0, NAMED).map(({ path }) => printable(nameOf(path)))
  const line = isUnsure
    ? labelled('unsure', `${what} (${code}; ${lookedForAgain(tries.at(-1) ?? null)})`, 'waits')
    : labelled(
        in_doubt ? 'doubt' : 'failed',
        `${what}${nextTry((running && tries[0]) || null)} (${code})`,
        needs_person ? 'act' : 'waits',
      )
  return many ? [line, labelled('', `${names.join(', ')}${others.length >= NAMED ? ', …' : ''}`)] : [line]
}

function backInWords({
  restorable_since: since,
  restorable_in_part_since: inPart,
  restorable_gaps: gaps,
  mirrors,
  audit: { kinds },
}: Status): string[] {
  if (since === null) return []
  const lacks = [
    ...(kinds.gone > 0 ? [`${count(kinds.gone, 'image')} gone from the host`] : []),
    ...(mirrors.some(({ pending_uploads }) => pending_uploads > 0) ? ['what is not uploaded yet'] : []),
  ]
  const except = lacks.length > 0 ? `, except ${lacks.join(' and ')}` : ''
  return [
    labelled('back', `to any moment since ${localTimeFrom(since)}${except}: albumd restore FOLDER --at TIME`),
    ...(inPart
      ? [
          `        before that, since ${localTimeFrom(inPart)}, without some older versions and deleted pictures`,
        ]
      : []),
    ...gaps.map(gap => `        ${inWords(because('records_gap', gap))}`),
  ]
}

function auditInWords({
  last,
  findings,
  kinds: { foreign },
  to_upload_again: again,
  under_way,
  left_off,
}: AuditStatus): string[] {
  const lines: string[] = []
  if (again > 0) lines.push(`${count(again, 'picture')} gone from the host, and not uploaded again yet`)
  if (foreign > 0)
    lines.push(
      `${count(foreign, 'image')} there ${foreign === 1 ? 'is' : 'are'} in no record of albumd, and left alone; "albumd audit" names each`,
    )
  const ended = last === null ? null : localTime(last)
  const since = ended === null ? 'no audit has ended yet' : `the last audit ended at ${ended}`
  const differ = findings - foreign
  const of = ended === null ? '' : ` of the audit that ended at ${ended}`
  if (differ > 0)
    lines.push(`${count(differ, 'finding')}${of}; "albumd audit" names ${differ === 1 ? 'it' : 'them'}`)
  else if (under_way) lines.push(`one is under way; ${since}`)
  else if (left_off) lines.push(`one was left before its end, and "albumd audit" goes on with it; ${since}`)
  else if (ended !== null) lines.push(`no ${lines.length > 0 ? 'other ' : ''}difference at ${ended}`)
  return lines
}

function blocksInWords(blocks: Status['blocks'], keyRemedy: string): string[] {
  const same = Map.groupBy(blocks, ({ code, message }) => `${code} ${message}`)
  return [...same.values()].flatMap(alike => {
    const [first] = alike as [Status['blocks'][number]]
    const { code, message } = first
    const since = alike.map(block => block.since).sort()[0]!
    const next = alike.flatMap(({ next_try_at }) => next_try_at ?? []).sort()[0] ?? null
    const said = `${blockInWords(alike)}: ${printable(message)}${nextTry(next)} (${code}; since ${localTime(since)})`
    const line = labelled('host', said, alike.some(({ needs_person }) => needs_person) ? 'act' : 'waits')
    return hostRefusesKey(first) ? [line, labelled('', keyRemedy)] : [line]
  })
}

/** When the upload is looked for again. `at`: by when recovery knows what became of it, if the host answers. A time in the past
 * is not told. */
function lookedForAgain(at: string | null): string {
  const latest = at === null ? null : Date.parse(at)
  const until = latest !== null && latest > systemClock.wall() ? latest : null
  return inWords(because('looked_for_again', { until }))
}

function nextTry(at: string | null): string {
  return at === null ? '' : `; next try ${clockTime(at)}`
}

/** The lines of a mirror. `isSaid`: the mirror before has the same reason. */
function mirrorInWords(mirror: MirrorStatus, status: Status, isSaid: boolean): string[] {
  const {
    files,
    synced,
    linked,
    flat,
    kept,
    left_out,
    failed_with_image: failed,
    left_out_with_image: withImage,
    gone_on_host: gone,
    first_gone_on_host: path,
  } = mirror
  const rest = leftIn([mirror]).flatMap(([n, what, kind]) =>
    countEach([n, what]).map(said => (kind === null ? said : paint(kind === 'bad' ? 'red' : 'yellow', said))),
  )
  const left = Object.entries(left_out).flatMap(([why, n]) => (n > 0 ? [countLeftOut(why, n)] : []))
  const leftOut = left.length > 0 ? `; left out: ${left.join(', ')}` : ''
  const { folder, state, reason } = mirror
  // What the whole account waits for is said below the mirrors.
  const why = state === 'idle' ? waitsInWords(mirror.waits.filter(({ pictures }) => pictures !== null)) : []
  const isBelow = isSaid || status.blocks.some(({ message }) => message === reason)
  const head = `${printable(folder)} → ${mirror.album === '' ? 'the root' : `"${mirror.album}"`}: ${doesInWords(mirror, status)}`
  const details = [
    reason && state !== 'idle' && !isBelow && printable(reason),
    ...why,
    mirror.looked_at
      ? [`${inDigits(synced + linked)} of ${count(files, 'picture')} on the host`, ...rest].join(', ') +
        leftOut
      : `not looked at yet${status.running ? '' : '; "albumd sync" or "albumd run" begins'}`,
    failed > 0 && inWords(because('failed_with_image', { pictures: failed, restore: restoreOf(mirror) })),
    deletionsInWords(mirror),
    ...waitsInWords(mirror.image_waits),
    linked > 0 && inWords(because('linked_pictures', { pictures: linked })),
    flat > 0 && inWords(because('flat_pictures', { pictures: flat })),
    gone > 0 && printable(inWords(because('gone_on_host', { pictures: gone, path }))),
    withImage > 0 && keepingInWords(mirror),
    kept > 0 && inWords(because('kept_pictures', { pictures: kept })),
  ]
  return [head, ...details.flatMap(detail => (detail ? [`        ${detail}`] : []))]
}

/** What a mirror does, in a word and a colour. For a person it is not idle while something of it failed or waits. */
function doesInWords(
  {
    folder,
    state,
    needs_person,
    held_deletions,
    pending_uploads,
    failed,
    uncertain,
    files,
    synced,
  }: MirrorStatus,
  { failures }: Status,
): string {
  if (state === 'guarded' || state === 'blocked') return paint(needs_person ? 'red' : 'yellow', state)
  if (state !== 'idle') return paint(state === 'paused' ? 'yellow' : 'reset', state)
  if (held_deletions > 0 || failures.some(one => one.mirror === folder && one.needs_person))
    return paint('red', 'needs you')
  if (pending_uploads + failed + uncertain > 0) return 'waiting'
  return paint(synced === files ? 'green' : 'reset', state)
}

function restoreOf({ state, folder }: MirrorStatus): string {
  return `"albumd restore ${state === 'guarded' ? 'OTHER_FOLDER' : shellWord(printable(folder))} --at TIME"`
}

function deletionsInWords({ pending_deletions, approved_deletions }: MirrorStatus): string | null {
  if (pending_deletions === approved_deletions) return null
  const each = pending_deletions - approved_deletions === 1 ? 'it' : 'each'
  return `"albumd deletions list" says when ${each} is deleted, and how it comes back`
}

function keepingInWords(mirror: MirrorStatus): string {
  const { left_out_with_image: pictures, left_out } = mirror
  return [
    inWords(because('left_out_with_image', { pictures })),
    ...(left_out.ignored > 0
      ? ['"albumd sync --prune-ignored" deletes the images of what a rule hides']
      : left_out.empty > 0
        ? [`${restoreOf(mirror)} brings back what was emptied`]
        : []),
  ].join('; ')
}

function pageInWords(now: PageNow | null, isPaused: boolean): string[] {
  if (now === null) return []
  const { page, picgo_server, uploading, rate } = now
  const where = page.url ?? page.why
  const editors = picgo_server?.url ?? picgo_server?.why ?? null
  return [
    ...uploading.map(
      ({ path, sent, size }) => `sending ${printable(path)}: ${sizeInWords(sent)} of ${sizeInWords(size)}`,
    ),
    ...(!isPaused && (rate.pictures > 0 || rate.bytes > 0) ? [rateInWords(rate)] : []),
    ...(where === null ? [] : [labelled('page', where)]),
    ...(editors === null ? [] : [labelled('editors', editors)]),
  ]
}

function rateInWords({ bytes, pictures }: PageNow['rate']): string {
  const pace = pictures > 0 ? `, ${Math.round(pictures * 10) / 10} pictures a second` : ''
  return labelled('rate', `${sizeInWords(Math.round(bytes))}/s${pace}`)
}

function machinesInWords({ machines }: Pick<Status, 'machines'>): string[] {
  return machines.map(({ name, is_this, state, seen, albums, used_today }) => {
    const has = albums.map(album => (album === '' ? "the host's root" : `"${printable(album)}"`)).join(', ')
    const own = is_this ? ' (this one)' : ''
    return `machine ${printable(name)}${own}: ${has || 'no album'}; ${inDigits(used_today)} today, ${machineInWords(state)}, seen ${localTime(seen)}`
  })
}

/** The lines of `status` about the day's quota, and about the pictures that wait for it. `pace`: pictures a second at this
 * moment. */
export function quotaInWords(
  { quota, backlog, blocks, paused }: Pick<Status, 'quota' | 'backlog' | 'blocks' | 'paused'>,
  pace = 0,
): string[] {
  const { plan, limit, used, exhausted } = quota
  const isKept = quota.only_reserve_left && backlog.pictures > 0
  const kept = isKept ? `, ${inWords(because('rest_is_reserve'))}` : ''
  const ofToday = `${inDigits(used)} of ${inDigits(limit)}`
  const remedy = quotaRemedy(blocks)
  const atOnce = remedy ? `; ${inWords(remedy)}` : ''
  const used_up = exhausted ? paint('yellow', `, ${usedUp(quota)}`) + atOnce : kept
  const lines = [labelled('quota', `${ofToday} today by albumd's count (${plan})${used_up}`)]
  const takes = paused === null && whatBacklogTakes({ quota, backlog }, pace)
  if (takes) lines.push(`backlog ${inWords(takes)}`)
  return lines
}

function usedUp({ resumes_at, next_probe_at }: Status['quota']): string {
  if (resumes_at === null)
    return `used up${next_probe_at === null ? '' : `; the host is asked again at ${localTime(next_probe_at)}`}`
  return `used up until ${localTime(resumes_at)}`
}
