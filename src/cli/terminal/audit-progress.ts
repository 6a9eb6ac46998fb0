import { count, timeInWords } from '../words/wording.ts'

/** How far an audit is. */
export interface AuditProgress {
  compared(done: number, albums: number): void
  end(): void
}

/** So often at most where lines stay. */
const LINE_EVERY_MS = 10_000

/** One line that changes on a terminal, elsewhere a line now and then. */
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

/** An audit may go on where one before was: only what this one has compared tells how long the rest takes. */
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
