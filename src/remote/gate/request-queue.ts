import Bottleneck from 'bottleneck'

/** Lets requests to one endpoint in, so many at a time, in the order in which they came. */
export interface RequestQueue {
  /** Runs `job` when it is its turn; answers null where `signal` is aborted before that. */
  inTurn<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T | null>
}

/**
 * Bottleneck keeps by the wall clock when the next job may begin: one that was set back would hold all up for as long.
 * With this that time is always past.
 */
const AT_ONCE = Number.NEGATIVE_INFINITY

/**
 * An endpoint without a limit (a benchmark's host) has nothing to queue for: who calls is bounded already, and
 * Bottleneck's bookkeeping costs more than the request (434 a second).
 */
export function openRequestQueue(places: number, requestsPerSecond: number): RequestQueue {
  if (requestsPerSecond === Number.POSITIVE_INFINITY)
    return { inTurn: async (job, signal) => (signal.aborted ? null : job()) }
  const queue = new Bottleneck({ maxConcurrent: places, minTime: AT_ONCE })
  // The first one is counted from when the queue was made.
  void queue.schedule(async () => {})
  return {
    inTurn<T>(job: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
      if (signal.aborted) return Promise.resolve(null)
      const { promise, resolve, reject } = Promise.withResolvers<T | null>()
      // Bottleneck can't take a job back: its place is passed through when its turn comes.
      const leave = () => resolve(null)
      signal.addEventListener('abort', leave, { once: true })
      const turn = queue.schedule(() => {
        signal.removeEventListener('abort', leave)
        return signal.aborted ? Promise.resolve(null) : job()
      })
      turn.then(resolve, reject)
      return promise
    },
  }
}
