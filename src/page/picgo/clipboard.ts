import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { NotPossible } from '../../daemon/commands/command.ts'
import type { Incoming } from '../../daemon/intake/intake.ts'
import { childEnvironment } from '../../daemon/notify/run-command.ts'

const WITHIN_MS = 10_000
/** The most bytes of a picture from the clipboard. */
const LARGEST = 256 * 1024 * 1024
/** How xclip and wl-paste say that the clipboard is empty, or holds something else. */
const NO_PICTURE = /not available|no owner|nothing is copied|no selection/i

/** The picture in the clipboard of the desktop that albumd runs in, through wl-paste on Wayland or xclip on X11. Its name comes
 * from its bytes, so that one that is pasted twice is sent once. Throws NotPossible. */
export async function pictureInClipboard(): Promise<Incoming> {
  const env = childEnvironment(process.env)
  const [tool, ...args] = env.WAYLAND_DISPLAY
    ? ['wl-paste', '--type', 'image/png']
    : ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out']
  if (!env.WAYLAND_DISPLAY && !env.DISPLAY)
    throw new NotPossible('not seen: albumd runs outside of a desktop session')
  const options = { env, encoding: 'buffer', timeout: WITHIN_MS, maxBuffer: LARGEST } as const
  const { stdout } = await promisify(execFile)(tool!, args, options).catch(({ code, stderr }) => {
    if (code === 'ENOENT') throw new NotPossible(`read with ${tool}, which is not installed`)
    const [said] = typeof code === 'string' ? [code] : String(stderr).split('\n')
    throw new NotPossible(!said || NO_PICTURE.test(said) ? 'holds no picture' : `${tool} says: ${said}`)
  })
  return { name: `clipboard-${hash('sha256', stdout).slice(0, 12)}.png`, bytes: once(stdout) }
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
