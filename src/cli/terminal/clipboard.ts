import { spawnSync } from 'node:child_process'
import { childEnvironment } from '../../daemon/notify/run-command.ts'

/** Milliseconds after which a clipboard tool that has not taken the text is killed. */
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
export function copyToClipboard(text: string): string | null {
  const tools = toolsFor(process.env, process.platform)
  if (tools.length === 0)
    return 'there is no desktop here to copy to ($WAYLAND_DISPLAY and $DISPLAY are not set)'
  const problems: string[] = []
  for (const [tool = '', ...args] of tools) {
    const { status, signal, error } = spawnSync(tool, args, {
      input: text,
      // Output is ignored, because some tools run on to serve the clipboard, and would hold a pipe open without end.
      stdio: ['pipe', 'ignore', 'ignore'],
      env: childEnvironment(process.env),
      timeout: PATIENCE_MS,
      killSignal: 'SIGKILL',
    })
    if (status === 0) return null
    if ((error as NodeJS.ErrnoException | undefined)?.code !== 'ENOENT')
      problems.push(`${tool}: it ended with ${status ?? signal}`)
  }
  const names = tools.map(([tool]) => tool).join(', ')
  return problems[0] ?? `no clipboard tool is there; install one of ${names}`
}
