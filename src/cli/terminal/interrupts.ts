import { once } from 'node:events'
import { isatty } from 'node:tty'
import type { Interruption } from '../../sync/pass-request.ts'

/** Milliseconds until work is cut off. albumd ends within five seconds; the rest is for recording what was cut off. */
const CUT_AFTER_MS = 3000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Handles Ctrl-C, SIGTERM and a closed terminal. Nothing new is begun, and after three seconds the work under way is cut off. A
 * second signal cuts it off at once. `hangUp`: what SIGHUP does instead, unless it comes from a closed terminal.
 */
export function onInterrupts(tell = () => {}, hangUp: (() => void) | null = null): Interruption & Disposable {
  const stop = new AbortController()
  const cut = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const interrupt = () => {
    if (stop.signal.aborted) return cut.abort()
    stop.abort()
    timer = setTimeout(() => cut.abort(), CUT_AFTER_MS)
    tell()
  }
  const onTerminal = isatty(1)
  // After a terminal was closed, standard output is no terminal any more.
  const hangup = () => (hangUp === null || (onTerminal && !isatty(1)) ? interrupt() : hangUp())
  const listener = (signal: (typeof SIGNALS)[number]) => (signal === 'SIGHUP' ? hangup : interrupt)
  for (const signal of SIGNALS) process.on(signal, listener(signal))
  return {
    stop: stop.signal,
    cut: cut.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      for (const signal of SIGNALS) process.off(signal, listener(signal))
    },
  }
}

/** Resolves once `signal` is aborted, or at once when it is aborted already. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
