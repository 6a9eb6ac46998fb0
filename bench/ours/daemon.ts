import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { nowMs } from '../measure/wait.ts'

/** A program that stays, from its start to its end. */
export interface Daemon {
  pid: number
  /** See `nowMs`. */
  startedMs: number
  /** SIGTERM, and its end. Throws where it ended by itself. */
  stop(): Promise<void>
}

/** Starts a program with Node; what it says goes to a file in `home`. */
export function startDaemon(args: readonly string[], home: string, env: NodeJS.ProcessEnv): Daemon {
  return startProgram(process.execPath, args, join(home, 'daemon.log'), env)
}

export function startProgram(
  command: string,
  args: readonly string[],
  log: string,
  env: NodeJS.ProcessEnv = process.env,
): Daemon {
  const said = openSync(log, 'w')
  const startedMs = nowMs()
  const child = spawn(command, args, { env, stdio: ['ignore', said, said] })
  closeSync(said)
  const ended = once(child, 'exit')
  // Whoever started it may be gone before it is stopped.
  process.once('exit', () => void child.kill('SIGKILL'))
  return {
    pid: child.pid!,
    startedMs,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`${command} ended by itself with ${child.exitCode ?? child.signalCode}: see ${log}`)
      child.kill('SIGTERM')
      await ended
    },
  }
}
