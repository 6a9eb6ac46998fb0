import { fork } from 'node:child_process'
import { once } from 'node:events'

/** A server in a process of its own, so that what it uses is not counted as ours. */
export interface ChildServer<Told> {
  pid: number
  /** What it said when it listened. */
  listening: { baseUrl: string }
  /** What it has seen since the last call. */
  seen(): Promise<Told>
  stop(): Promise<void>
}

/** Starts a module that answers `{listening}` once, and `{seen}` to each message. Throws what it could not start for. */
export async function startChild<Told>(module: string, options: object): Promise<ChildServer<Told>> {
  const child = fork(module, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit').then(([code]) => {
    throw new Error(`${module} ended with ${code}`)
  })
  // It may end while nobody waits for an answer.
  gone.catch(() => {})
  const answer = async () => (await Promise.race([once(child, 'message'), gone]))[0]
  child.send(options)
  const { listening } = await answer()
  return {
    pid: child.pid!,
    listening,
    async seen() {
      child.send('seen')
      return (await answer()).seen
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
