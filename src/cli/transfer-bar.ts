import ora from 'ora'
import { count, sizeInWords } from './wording.ts'

const WIDTH = 30

/** A bar while pictures are on their way, and lines for what a person should know. */
export interface TransferBar {
  start(pictures: number): void
  /** One more is done; so many bytes were moved for it. */
  advance(bytes: number): void
  say(line: string): void
  end(): void
}

export function transferBar(out: NodeJS.WriteStream): TransferBar {
  // Without discardStdin: false, ora takes the keyboard, and Ctrl-C with it.
  const bar = ora({ stream: out, discardStdin: false, color: false })
  const moved = { total: 0, done: 0, bytes: 0, since: 0 }
  return {
    start(pictures) {
      Object.assign(moved, { total: pictures, done: 0, bytes: 0, since: Date.now() })
      bar.start(barText(moved, moved.since))
    },
    advance(bytes) {
      moved.done++
      moved.bytes += bytes
      bar.text = barText(moved, Date.now())
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

function barText(
  { total, done, bytes, since }: Record<'total' | 'done' | 'bytes' | 'since', number>,
  now: number,
): string {
  const filled = total === 0 ? WIDTH : Math.round((Math.min(done, total) / total) * WIDTH)
  const seconds = Math.max(0.1, (now - since) / 1000)
  const left = done === 0 ? '' : `  ${timeInWords((Math.max(0, total - done) * seconds) / done)} left`
  const sent = `${sizeInWords(bytes)}, ${sizeInWords(bytes / seconds)}/s`
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${done} of ${count(total, 'picture')}  ${sent}${left}`
}

function timeInWords(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}
