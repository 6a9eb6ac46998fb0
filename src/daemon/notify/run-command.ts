import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

const TIMEOUT_MS = 60_000
const KEPT_BYTES = 1000
const ON_WINDOWS = process.platform === 'win32'

/** Runs a command by the shell, with `said` in its environment. On `stop` and after `timeoutMs` it is killed with all that
 * it started. Returns what went wrong, in one line, or null. */
export async function runCommand(
  command: string,
  said: Record<string, string>,
  stop: AbortSignal,
  timeoutMs: number = TIMEOUT_MS,
): Promise<string | null> {
  const end = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)])
  let child: ChildProcess | null = null
  const endGroup = () => child && killGroup(child)
  try {
    child = spawn(command, {
      shell: true,
      env: { ...childEnvironment(process.env), ...said },
      stdio: ['ignore', 'ignore', 'pipe'],
      // The command gets a process group, which can be ended as a whole, and which Ctrl-C on albumd's terminal does not reach.
      detached: !ON_WINDOWS,
    })
    let told = ''
    // `stderr` is missing when the process can't open more files. `child` then emits `error`.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      told = (told + text).slice(0, KEPT_BYTES)
    })
    end.addEventListener('abort', endGroup)
    if (end.aborted) endGroup()
    const [code, signal] = await once(child, 'exit')
    if (code === 0) return null
    if (code === null && end.aborted)
      return stop.aborted ? 'albumd ended' : `it took more than ${timeoutMs / 1000} s`
    const line = told.trim().split('\n').at(-1)
    const ending = code === null ? `it was ended by ${signal}` : `it ended with ${code}`
    return line ? `${ending} and said "${line}"` : ending
  } catch (error) {
    // The system refused to start the command, for example because its environment is too large.
    return (error as Error).message
  } finally {
    end.removeEventListener('abort', endGroup)
    // Closes albumd's end of stderr, because a background process of the command may hold the other end open for long.
    child?.stderr?.destroy()
  }
}

function killGroup(child: ChildProcess): void {
  try {
    if (ON_WINDOWS || child.pid === undefined) child.kill('SIGKILL')
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The command has ended meanwhile, so there is nothing to kill.
  }
}

/** The variables that a command gets: enough for desktop messages and the clipboard. None holds a key. */
const KEPT = [
  'PATH',
  'HOME',
  'LANG',
  'TZ',
  'USER',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
] as const

export function childEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(KEPT.flatMap(name => (env[name] === undefined ? [] : [[name, env[name]]])))
}
