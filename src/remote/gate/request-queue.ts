import Bottleneck from 'bottleneck'

/** Runs `job` when its turn comes. Resolves to null when `signal` is aborted before its turn. */
export type InTurn = <T>(job: () => Promise<T>, signal: AbortSignal) => Promise<T | null>

/** Bottleneck computes by the wall clock when its next job may start. When somebody sets the clock back by an hour, the next
 * job would wait for an hour. With a negative infinite `minTime` the computed time always lies in the past. */
const NO_MIN_TIME = Number.NEGATIVE_INFINITY

/** The queue of an endpoint. It runs at most `places` requests at a time, in the order in which they came. An endpoint
 * without a rate limit, as of a benchmark's host, gets no queue: its callers send few requests at a time anyway, and
 * Bottleneck's bookkeeping takes longer than such a request. */
export function openQueue(places: number, requestsPerSecond: number): InTurn {
  if (requestsPerSecond === Number.POSITIVE_INFINITY)
    return async (job, signal) => (signal.aborted ? null : job())
  const queue = new Bottleneck({ maxConcurrent: places, minTime: NO_MIN_TIME })
  // Bottleneck uses `minTime` only from the second job on. The first job may start when the wall clock shows the time at
  // which the queue was made. This empty job is the first one, so that no request is.
  void queue.schedule(async () => {})
  return async (job, signal) => {
    if (signal.aborted) return null
    // Bottleneck can't remove a queued job. So its caller goes at once, and the job does nothing in its turn.
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
