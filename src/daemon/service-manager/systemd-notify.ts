import { execFile } from 'node:child_process'

/** The variables of sd_notify(3), such as READY or STATUS, and their values. */
export type Notice = Readonly<Record<string, string>>

/** systemd-notify ends within moments, or hangs for ever. */
const TIMEOUT_MS = 10_000

/**
 * Sends a notice by the command systemd-notify, because Node has no Unix datagram sockets. Answers what went wrong, in
 * one line, or null.
 */
export function notifySystemd(
  notice: Notice,
  { NOTIFY_SOCKET, PATH }: NodeJS.ProcessEnv,
): Promise<string | null> {
  const words = Object.entries(notice).map(([name, value]) => `${name}=${value}`)
  return new Promise(resolve => {
    // The child must see neither the API key nor the folder of credentials.
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
