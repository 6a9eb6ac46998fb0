import Bottleneck from 'bottleneck'

/** Runs `job` when its turn comes. Resolves to null when `signal` is aborted before its turn. */
export type InTurn = <T>(job: () => Promise<T>, signal: AbortSignal) => Promise<T | null>

/** Bottleneck computes by the wall clock when its next job may start. When somebody sets the clock back by an hour, the next
 * job would wait for an hour. With a negative infinite `minTime` the computed time always lies in the past. */
const NO_MIN_TIME = Number.NEGATIVE_INFINITY

/** Runs at most `places` requests at a time, in the order in which they came. */
export function openQueue(places: number): InTurn {
  const queue = new Bottleneck({ maxConcurrent: places, minTime: NO_MIN_TIME })
  // Bottleneck uses `minTime` only from the second job on, so the first job is an empty one.
  void queue.schedule(async () => {})
  return async (job, signal) => {
    if (signal.aborted) return null
    // Bottleneck can't remove a queued job. So the caller goes on at once, and the job does nothing in its turn.
    const left = Promise.withResolvers<null>()
    const leave = () => left.resolve(null)
    signal.addEventListener('abort', leave, { once: true })
    const turn = queue.schedule(async () => {
      signal.removeEventListener('abort', leave)
      return signal.aborted ? null : job()
    })
    return Promise.race([left.promise, turn])
  }
}
