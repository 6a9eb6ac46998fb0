import type { Ora } from 'ora'
import { systemClock } from '../../protocol/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import { count, inDigits, localTime, printable, sizeInWords, spanInWords } from '../../words/text.ts'
import { fitted } from './fitted.ts'

const WIDEST = 30
const NARROWEST = 10
/** Columns beside the text: two for ora's sign, and one that stays free, because some terminals break a full line. */
const AROUND = 3
/** Without a bar, the lines of so many milliseconds are written together, because a write takes longer than making a line. */
const LINES_MS = 50

export interface Moved {
  noun: 'picture' | 'album'
  total: number
  before: number
  done: number
  /** How many bytes were uploaded or downloaded. Null: the work moves no bytes. */
  bytes: number | null
  /** How many pictures may still be sent today. Null: no quota is used. */
  quota: number | null
  seconds: number
}

/** Shows work to a person. On a terminal there are a bar and lines above the bar, elsewhere only the lines. */
export class Progress {
  readonly #out: NodeJS.WriteStream | null
  readonly #bar: Ora | null
  #moved: Omit<Moved, 'seconds'> = { noun: 'picture', total: 0, before: 0, done: 0, bytes: 0, quota: null }
  #since = 0
  readonly #lines: string[] = []
  #printing: NodeJS.Timeout | undefined

  constructor(out: NodeJS.WriteStream | null, bar: Ora | null) {
    this.#out = out
    this.#bar = bar
  }

  get hasBar(): boolean {
    return this.#bar !== null
  }

  start(moved: Partial<Moved>): void {
    this.#moved = { ...this.#moved, done: moved.before ?? 0, ...moved }
    this.#since = systemClock.wall()
    this.#bar?.start(this.#line())
  }

  /** One more picture is done. `bytes`: how many bytes the picture moved. `quota`: how much quota the picture used. */
  advance(bytes: number, quota = 0): void {
    const { done, bytes: before, quota: left } = this.#moved
    this.reach(done + 1, {
      bytes: before === null ? null : before + bytes,
      quota: left === null ? null : Math.max(0, left - quota),
    })
  }

  reach(done: number, moved: Partial<Moved> = {}): void {
    this.#moved = { ...this.#moved, ...moved, done }
    if (this.#bar) this.#bar.text = this.#line()
  }

  inWords(): string {
    return textOf(this.#now(), 80)
  }

  #line(): string {
    return barText(this.#now(), this.#out?.columns || 80)
  }

  #now(): Moved {
    return { ...this.#moved, seconds: (systemClock.wall() - this.#since) / 1000 }
  }

  say(line: string): void {
    this.#lines.push(line)
    if (this.#bar) this.#print()
    else this.#printing ??= setTimeout(() => this.#print(), LINES_MS)
  }

  end(): void {
    this.#print()
    this.#bar?.stop()
  }

  #print(): void {
    clearTimeout(this.#printing)
    this.#printing = undefined
    if (this.#lines.length === 0) return
    const showing = this.#bar?.isSpinning
    if (showing) this.#bar?.clear()
    this.#out?.write(`${fitted(this.#lines.join('\n'), this.#out.columns)}\n`)
    this.#lines.length = 0
    if (showing) this.#bar?.render()
  }
}

export const noProgress = new Progress(null, null)

/** The code that draws the bar is loaded only on a terminal. A terminal of 0 columns (script(1) without a terminal behind it,
 * a serial console) gets lines alone, because ora clears a line of such a terminal without end. */
export async function progressOn(out: NodeJS.WriteStream): Promise<Progress> {
  if (!out.isTTY || out.columns === 0) return new Progress(out, null)
  const { default: ora } = await import('ora')
  // ora's default discards the keyboard's input, and Ctrl-C with it.
  return new Progress(out, ora({ stream: out, discardStdin: false, color: false }))
}

export function barText(moved: Moved, columns: number): string {
  const text = textOf(moved, columns)
  const width = Math.min(WIDEST, columns - AROUND - text.length - 1)
  if (width < NARROWEST) return text
  const { done, total } = moved
  const filled = total === 0 ? width : Math.round((Math.min(done, total) / total) * width)
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${text}`
}

/** The text of the bar. On a narrow terminal, the least important parts are left out first. */
function textOf(moved: Moved, columns: number): string {
  const { noun, total, before, bytes, quota } = moved
  const seconds = Math.max(0.1, moved.seconds)
  const done = Math.min(moved.done, total)
  const first = `${done} of ${count(total, noun)}`
  const rate = bytes === null ? [] : [`${sizeInWords(bytes / seconds)}/s`]
  const size = bytes === null ? [] : [`${sizeInWords(bytes)}, ${rate[0]}`]
  // The rest is sent on another day, because the day's quota does not allow it.
  const today = Math.min(total - done, quota ?? Number.POSITIVE_INFINITY)
  const when = today < total - done ? ' left today' : ' left'
  const time = done > before ? [`${spanInWords((today * seconds * 1000) / (done - before))}${when}`] : []
  const left = quota === null ? [] : [quotaLeft(quota)]
  const texts = [[...size, ...time, ...left], [...rate, ...time, ...left], [...rate, ...time], time, []].map(
    parts => [first, ...parts].join('  '),
  )
  return texts.find(each => each.length + AROUND <= columns) ?? first
}

function quotaLeft(pictures: number): string {
  return `quota left ${inDigits(pictures)}`
}

/** Shows an event of a pass. When there is a bar, uploads get no line, because the bar shows uploads. */
export function tellPass(progress: Progress, emitted: SpokenEvent, wordsOf = eventInWords): void {
  const line = wordsOf(emitted)
  switch (emitted.event) {
    case 'uploads_started':
      progress.start({ total: emitted.pictures + emitted.compare, bytes: 0, quota: emitted.quota_left })
      if (progress.hasBar) return
      break
    case 'picture_uploaded':
      progress.advance(emitted.size, 1)
      if (progress.hasBar) return
      break
    case 'picture_unchanged':
      progress.advance(emitted.compared ? emitted.size : 0)
      break
    case 'picture_linked':
    case 'picture_failed':
    case 'picture_uncertain':
    case 'picture_waits':
      progress.advance(0)
  }
  if (line !== null) progress.say(line)
}

/** Like `eventInWords`, for `albumd adopt`, which sends nothing. */
export function adoptionInWords(emitted: SpokenEvent): string | null {
  if (emitted.event === 'uploads_started')
    return `${count(emitted.pictures + emitted.compare, 'picture')} to look for on the host; nothing is sent`
  return eventInWords(emitted)
}

export function eventInWords(emitted: SpokenEvent): string | null {
  switch (emitted.event) {
    case 'scan_finished':
      return `${printable(emitted.mirror)}: ${count(emitted.files, 'picture')} in ${count(emitted.folders, 'folder')}`
    case 'mirror_guarded':
      return `guarded: ${printable(emitted.reason)}`
    case 'uploads_started': {
      const over = emitted.pictures - emitted.quota_left
      const waits = over > 0 ? `, so ${inDigits(over)} may have to wait for another day` : ''
      const compared =
        emitted.compare > 0 ? `${count(emitted.compare, 'picture')} to read again, sent only if needed` : null
      if (emitted.pictures === 0) return compared
      const [pictures, size] = [count(emitted.pictures, 'picture'), sizeInWords(emitted.bytes)]
      const sent = `${pictures} to ${emitted.looks_first ? 'compare or ' : ''}send (${size})`
      return `${[sent, ...(compared ? [compared] : [])].join(', ')}; ${quotaLeft(emitted.quota_left)} by albumd's count${waits}`
    }
    case 'picture_uploaded':
      return `uploaded ${printable(emitted.path)} (${sizeInWords(emitted.size)})`
    case 'picture_failed':
      return `failed ${printable(emitted.path)}: ${printable(emitted.message)} (${emitted.code})`
    case 'picture_uncertain':
      return `uncertain ${printable(emitted.path)}: ${printable(emitted.message)}`
    case 'picture_waits':
      return `waits ${printable(emitted.path)}: ${emitted.message}`
    case 'upload_found_out':
      return emitted.arrived
        ? `found ${printable(emitted.path)} on the host`
        : `${printable(emitted.path)} never arrived; it is sent again`
    case 'default_album_found':
      return `pictures of the host's root go to the account's default album ${printable(emitted.album)}`
    case 'album_created':
      return `made the album ${printable(emitted.album)}`
    case 'album_deleted':
      return `deleted the album ${printable(emitted.album)}, which nothing needs`
    case 'new_state':
    case 'format_refused':
      return printable(emitted.message)
    case 'uploads_stopped':
      return `uploads stopped: ${printable(emitted.message)} (${emitted.code})`
    case 'image_deleted':
      if (emitted.moved_to !== null)
        return `deleted the old image of ${printable(emitted.path)}, which lies at ${printable(emitted.moved_to)} now`
      return emitted.reason === 'superseded'
        ? `deleted the old image of ${printable(emitted.path)}`
        : `deleted the image of ${printable(emitted.path)}`
    case 'deletions_held':
      return `held: ${count(emitted.images, 'image')} would be deleted; see albumd deletions list`
    case 'deletions_many':
      return `many: ${count(emitted.images, 'image')} would be deleted, and wait until ${localTime(emitted.until)}; see albumd deletions list`
    case 'image_kept':
      return `did not delete the image of ${printable(emitted.path)}: ${printable(emitted.reason)}`
    case 'scan_started':
    case 'change_found':
    // The end of the image is told when it was deleted.
    case 'picture_gone':
    case 'picture_unchanged':
    // Linked pictures may be very many, so only their number is told at the end.
    case 'picture_linked':
      return null
  }
}
