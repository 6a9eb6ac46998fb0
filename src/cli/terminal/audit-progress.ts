import { count, timeInWords } from '../words/wording.ts'

/** Shows the progress of an audit. */
export interface AuditProgress {
  compared(done: number, albums: number): void
  end(): void
}

/** Milliseconds between two lines on a stream that is no terminal. */
const LINE_EVERY_MS = 10_000

/** On a terminal one line that changes, elsewhere a line now and then. */
export async function auditProgress(out: NodeJS.WriteStream): Promise<AuditProgress> {
  const words = pace()
  if (!out.isTTY) {
    let said = performance.now()
    return {
      compared(done, albums) {
        const line = words(done, albums)
        if (performance.now() - said < LINE_EVERY_MS) return
        said = performance.now()
        out.write(`albumd: ${line}\n`)
      },
      end() {},
    }
  }
  const { default: ora } = await import('ora')
  const line = ora({ stream: out, discardStdin: false, color: false })
  line.start('comparing')
  return {
    compared(done, albums) {
      line.text = words(done, albums)
    },
    end: () => void line.stop(),
  }
}

/** The time that is left. An audit may continue an earlier one, so only albums of this run are counted. */
function pace(): (done: number, albums: number) => string {
  let from: { done: number; at: number } | null = null
  return (done, albums) => {
    const now = performance.now()
    from ??= { done, at: now }
    const each = done > from.done ? (now - from.at) / 1000 / (done - from.done) : null
    const left = each === null ? '' : `, ${timeInWords((albums - done) * each)} left`
    return `compared ${done.toLocaleString('en')} of ${count(albums, 'album')}${left}`
  }
}
