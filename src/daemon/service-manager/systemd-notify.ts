import { execFile } from 'node:child_process'

/** systemd's own words, as READY or STATUS (sd_notify(3)), and what they are set to. */
export type Notice = Readonly<Record<string, string>>

/** Its answer comes within moments, or never. */
const TIMEOUT_MS = 10_000

/**
 * Tells the service manager at `socket` by systemd's own command: Node has no datagram sockets of this kind. Answers what
 * went wrong, in a line, or null.
 */
export function notifySystemd(
  notice: Notice,
  { NOTIFY_SOCKET, PATH }: NodeJS.ProcessEnv,
): Promise<string | null> {
  const words = Object.entries(notice).map(([name, value]) => `${name}=${value}`)
  return new Promise(resolve => {
    // The child sees neither the key nor where credentials are.
    const env = { NOTIFY_SOCKET, PATH }
    execFile('systemd-notify', ['--', ...words], { env, timeout: TIMEOUT_MS }, (error, _, said) =>
      resolve(error && wording(error, said)),
    )
  })
}

function wording(error: Error & { code?: unknown }, said: string): string {
  if (error.code === 'ENOENT') return 'there is no systemd-notify; it comes with systemd'
  return said.trim().split('\n').at(-1) || error.message
}
