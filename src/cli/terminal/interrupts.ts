import { once } from 'node:events'
import { isatty } from 'node:tty'
import type { Interruption } from '../../sync/pass-request.ts'

/** Of the five seconds that a service manager is promised: the rest is for recording what was cut off. */
const CUT_AFTER_MS = 3000

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Ctrl-C, SIGTERM and a closed terminal: nothing new is begun, and after three seconds what is under way is cut off. A
 * second one cuts at once. `hangUp`: SIGHUP has this effect instead, unless it tells of a terminal that is gone.
 */
export function onInterrupts(
  tell = () => {},
  hangUp: (() => void) | null = null,
): Interruption & { dispose(): void } {
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
  // A terminal that was closed is none any more.
  const hangup = () => (hangUp === null || (onTerminal && !isatty(1)) ? interrupt() : hangUp())
  const listener = (signal: (typeof SIGNALS)[number]) => (signal === 'SIGHUP' ? hangup : interrupt)
  for (const signal of SIGNALS) process.on(signal, listener(signal))
  return {
    stop: stop.signal,
    cut: cut.signal,
    dispose() {
      clearTimeout(timer)
      for (const signal of SIGNALS) process.off(signal, listener(signal))
    },
  }
}

/** Resolves once `signal` is aborted, at once where it is already: then it tells nothing any more. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
