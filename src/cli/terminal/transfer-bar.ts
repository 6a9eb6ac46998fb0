import ora from 'ora'
import type { TellSpoken } from '../../sync/pass-events.ts'
import { count, eventInWords, quotaLeft, sizeInWords, timeInWords } from '../words/wording.ts'

/** Widths in columns of the terminal. */
const WIDEST = 30
const NARROWEST = 10
/** Columns for ora's sign before the text, and one free column, because some terminals break a full line. */
const AROUND = 3

/** A bar for the transfer of pictures. */
export interface TransferBar {
  /** `quota`: how many pictures may still be sent today; null when no quota is used. */
  start(pictures: number, quota: number | null): void
  /** Counts a picture. `bytes`: how many were moved for it. `quota`: how much of the quota it used. */
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
  // ora's default discards the keyboard's input, and Ctrl-C with it.
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

/** The bar's line. On a narrow terminal the least important parts are left out first. */
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

/** A bar for the events of a pass. Events that a person should know are written as lines above the bar. */
export function barProgress(out: NodeJS.WriteStream) {
  const { start, advance, say, end } = transferBar(out)
  return {
    say,
    tell(told: Parameters<TellSpoken>[0]) {
      const line = eventInWords(told)
      switch (told.event) {
        case 'uploads_started':
          start(told.pictures, told.quota_left)
          break
        case 'picture_uploaded':
          advance(told.size, 1)
          break
        case 'picture_unchanged':
          advance(told.size)
          break
        case 'picture_linked':
          advance(0)
          break
        case 'picture_failed':
        case 'picture_uncertain':
        case 'picture_waits':
          advance(0)
          if (line) say(line)
          break
        default:
          if (line) say(line)
      }
    },
    end,
  }
}
