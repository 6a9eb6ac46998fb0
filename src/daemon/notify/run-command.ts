import { type ChildProcess, spawn } from 'node:child_process'

const TIMEOUT_MS = 60_000
/** Of what a command writes to standard error. */
const KEPT_BYTES = 1000
const ON_WINDOWS = process.platform === 'win32'

/**
 * Runs a command by the shell, with this environment and no other. It is ended after a minute, or `timeoutMs`, or on
 * `stop`, with all that it has started. Answers what went wrong, in a line, or null.
 */
export function runCommand(
  command: string,
  env: Record<string, string>,
  stop: AbortSignal,
  timeoutMs: number = TIMEOUT_MS,
): Promise<string | null> {
  const ended = new Promise<string | null>(resolve => {
    // Its standard error is not there where no file can be opened any more; `error` tells then.
    const child: ChildProcess = spawn(command, {
      shell: true,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      // A group of its own: it can be ended as a whole, and Ctrl-C on our terminal is not for it.
      detached: !ON_WINDOWS,
    })
    let said = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(0, KEPT_BYTES)
    })
    let why: string | null = null
    const end = (reason: string) => {
      why = reason
      endGroup(child)
    }
    const timer = setTimeout(() => end(`it took more than ${timeoutMs / 1000} s`), timeoutMs)
    const onStop = () => end('albumd ended')
    stop.addEventListener('abort', onStop)
    if (stop.aborted) onStop()
    const finish = (problem: string | null) => {
      clearTimeout(timer)
      stop.removeEventListener('abort', onStop)
      // What it has left in the background may hold it open.
      child.stderr?.destroy()
      resolve(problem)
    }
    child.once('error', error => finish(error.message))
    child.once('exit', (code, signal) => {
      const line = said.trim().split('\n').at(-1)
      const ending = code === null ? `it was ended by ${signal}` : `it ended with ${code}`
      finish(why ?? (code === 0 ? null : line ? `${ending}: ${line}` : ending))
    })
  })
  // What the system refuses in another way, such as an environment that is too large, is thrown.
  return ended.catch((error: Error) => error.message)
}

function endGroup(child: ChildProcess): void {
  try {
    if (ON_WINDOWS || child.pid === undefined) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}
