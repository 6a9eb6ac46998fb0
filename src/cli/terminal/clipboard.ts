import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { childEnvironment } from '../../daemon/notify/run-command.ts'

/** Milliseconds after which a clipboard tool that has not taken the text is ended. */
const PATIENCE_MS = 5000

/** The tools that may put text into this desktop's clipboard, the best first. */
function toolsFor(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string[][] {
  if (platform === 'darwin') return [['pbcopy']]
  return [
    ...(env.WAYLAND_DISPLAY ? [['wl-copy']] : []),
    ...(env.DISPLAY
      ? [
          ['xclip', '-selection', 'clipboard'],
          ['xsel', '--clipboard', '--input'],
        ]
      : []),
  ]
}

/** Puts text into the clipboard. Answers null, or one line that says why this failed. */
export async function copyToClipboard(text: string): Promise<string | null> {
  const tools = toolsFor(process.env, process.platform)
  if (tools.length === 0)
    return 'there is no desktop here to copy to ($WAYLAND_DISPLAY and $DISPLAY are not set)'
  const problems: string[] = []
  for (const [tool, ...args] of tools) {
    const problem = await give(tool!, args, text)
    if (problem === null) return null
    if (problem !== NOT_THERE) problems.push(`${tool}: ${problem}`)
  }
  const names = tools.map(([tool]) => tool).join(', ')
  return problems[0] ?? `no clipboard tool is there; install one of ${names}`
}

const NOT_THERE = 'it is not there'

async function give(tool: string, args: string[], text: string): Promise<string | null> {
  // Some tools stay behind to serve the clipboard. They would hold a pipe open without end.
  const child = spawn(tool, args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    env: childEnvironment(process.env),
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  })
  // The tool may end without reading its input, which is no error here.
  child.stdin.on('error', () => {})
  child.stdin.end(text)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    return code === 0 ? null : `it ended with ${code ?? signal}`
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? NOT_THERE : message
  }
}
