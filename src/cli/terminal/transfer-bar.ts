import ora from 'ora'
import { count, quotaLeft, sizeInWords, timeInWords } from '../words/wording.ts'

/** In columns. */
const WIDEST = 30
const NARROWEST = 10
/** What ora puts before a text, and one that stays free: some terminals break a full line. */
const AROUND = 3

/** A bar while pictures are on their way, and lines for what a person should know. */
export interface TransferBar {
  /** `quota`: so many more may be sent today; null where none is used. */
  start(pictures: number, quota: number | null): void
  /** One more is done; so many bytes were moved for it, and so much of the quota was used. */
  advance(bytes: number, quota?: number): void
  say(line: string): void
  end(): void
}

export interface Moved {
  total: number
  done: number
  bytes: number
  quota: number | null
  seconds: number
}

export function transferBar(out: NodeJS.WriteStream): TransferBar {
  // Without discardStdin: false, ora takes the keyboard, and Ctrl-C with it.
  const bar = ora({ stream: out, discardStdin: false, color: false })
  const moved: Omit<Moved, 'seconds'> = { total: 0, done: 0, bytes: 0, quota: null }
  let since = 0
  const text = () => barText({ ...moved, seconds: (Date.now() - since) / 1000 }, out.columns || 80)
  return {
    start(pictures, quota) {
      Object.assign(moved, { total: pictures, done: 0, bytes: 0, quota })
      since = Date.now()
      bar.start(text())
    },
    advance(bytes, quota = 0) {
      moved.done++
      moved.bytes += bytes
      if (moved.quota !== null) moved.quota = Math.max(0, moved.quota - quota)
      bar.text = text()
    },
    say(line) {
      const showing = bar.isSpinning
      if (showing) bar.clear()
      out.write(`${line}\n`)
      if (showing) bar.render()
    },
    end: () => void bar.stop(),
  }
}

/** How far it is, on one line: what a narrow terminal has no room for is left out, the least needed first. */
export function barText({ total, done, bytes, quota, seconds: passed }: Moved, columns: number): string {
  const seconds = Math.max(0.1, passed)
  const pictures = `${Math.min(done, total)} of ${count(total, 'picture')}`
  const rate = `${sizeInWords(bytes / seconds)}/s`
  const time = done === 0 ? [] : [`${timeInWords((Math.max(0, total - done) * seconds) / done)} left`]
  const left = quota === null ? [] : [quotaLeft(quota)]
  const texts = [
    [pictures, `${sizeInWords(bytes)}, ${rate}`, ...time, ...left],
    [pictures, rate, ...time, ...left],
    [pictures, rate, ...time],
    [pictures, ...time],
    [pictures],
  ].map(parts => parts.join('  '))
  const text = texts.find(each => each.length + AROUND <= columns) ?? pictures
  const width = Math.min(WIDEST, columns - AROUND - text.length - 1)
  if (width < NARROWEST) return text
  const filled = total === 0 ? width : Math.round((Math.min(done, total) / total) * width)
  return `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${text}`
}
