import ora from 'ora'
import type { Progress } from './progress.ts'
import { count, eventInWords, sizeInWords } from './wording.ts'

const WIDTH = 30

/** A bar while pictures are on their way, and lines for what a person should know. */
export function barProgress(out: NodeJS.WriteStream): Progress {
  // Without discardStdin: false, ora takes the keyboard, and Ctrl-C with it.
  const bar = ora({ stream: out, discardStdin: false, color: false })
  const uploads = { total: 0, done: 0, bytes: 0, since: 0 }

  const say = (line: string) => {
    const showing = bar.isSpinning
    if (showing) bar.clear()
    out.write(`${line}\n`)
    if (showing) bar.render()
  }
  const advance = (bytes: number) => {
    uploads.done++
    uploads.bytes += bytes
    bar.text = barText(uploads, Date.now())
  }
  return {
    say,
    tell(told) {
      const line = eventInWords(told)
      switch (told.event) {
        case 'uploads_started':
          Object.assign(uploads, { total: told.pictures, done: 0, bytes: 0, since: Date.now() })
          bar.start(barText(uploads, uploads.since))
          break
        case 'picture_uploaded':
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
    end: () => void bar.stop(),
  }
}

function barText(
  { total, done, bytes, since }: Record<'total' | 'done' | 'bytes' | 'since', number>,
  now: number,
): string {
  const filled = total === 0 ? WIDTH : Math.round((done / total) * WIDTH)
  const seconds = Math.max(0.1, (now - since) / 1000)
  const left = done === 0 ? '' : `  ${timeInWords(((total - done) * seconds) / done)} left`
  const sent = `${sizeInWords(bytes)}, ${sizeInWords(bytes / seconds)}/s`
  return `${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${done} of ${count(total, 'picture')}  ${sent}${left}`
}

function timeInWords(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}
