import { once } from 'node:events'
import { isatty } from 'node:tty'
import type { Interruption } from '../../sync/pass-request.ts'

/** Milliseconds after a signal until the work under way is aborted. albumd must end within five seconds, so two seconds
 * remain to record the aborted work. */
const CUT_AFTER_MS = 3000

/** Handles Ctrl-C, SIGTERM and SIGHUP from now on. The first signal calls `tell`, and nothing new is begun. After three more
 * seconds, or at a second signal, the work under way is aborted. `hangUp`: what SIGHUP does instead. When the terminal was
 * closed, SIGHUP is a signal like the others, even with `hangUp`. */
export type OnInterrupts = (tell?: () => void, hangUp?: () => void) => Interruption

/** Does work that may handle signals. When the work is done, a signal ends the process again. */
export async function withInterrupts<T>(work: (onInterrupts: OnInterrupts) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const cut = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const listeners: [NodeJS.Signals, () => void][] = []
  try {
    return await work((tell, hangUp) => {
      const interrupt = () => {
        if (stop.signal.aborted) return cut.abort()
        stop.abort()
        timer = setTimeout(() => cut.abort(), CUT_AFTER_MS)
        tell?.()
      }
      const onTerminal = isatty(1)
      // A closed terminal shows by standard output: it was a terminal, and is none now.
      const hangup = () => (!hangUp || (onTerminal && !isatty(1)) ? interrupt() : hangUp())
      listeners.push(['SIGINT', interrupt], ['SIGTERM', interrupt], ['SIGHUP', hangup])
      for (const [signal, listener] of listeners) process.on(signal, listener)
      return { stop: stop.signal, cut: cut.signal }
    })
  } finally {
    clearTimeout(timer)
    for (const [signal, listener] of listeners) process.off(signal, listener)
  }
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
