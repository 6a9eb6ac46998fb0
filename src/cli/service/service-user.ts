import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { runTool } from './systemctl.ts'

/** Whom the machine's services run as. */
export const SERVICE_USER = 'albumd'

/** Answers whether it had to be made. Throws Problem where that can't be done. */
export function makeServiceUser(): boolean {
  if (runTool('getent', ['passwd', SERVICE_USER])?.code === 0) return false
  const line = `u ${SERVICE_USER} - "Mirrors pictures to an image host" /var/lib/albumd`
  const ended = runTool('systemd-sysusers', ['--inline', line])
  if (ended?.code === 0) return true
  const why = ended === null ? 'there is no systemd-sysusers' : ended.err.trim().split('\n')[0]
  throw new Problem(
    EXIT.unexpected,
    `the user ${SERVICE_USER} can't be made (${why}); make it (useradd --system ${SERVICE_USER}), then run this again`,
  )
}

/** Whether that user may read a file, or list a folder and look at what is in it. Groups and ACLs count. */
export function serviceUserCanRead(path: string): boolean {
  const who = [`--reuid=${SERVICE_USER}`, `--regid=${SERVICE_USER}`, '--init-groups', '--reset-env']
  const look = 'test -r "$0" && { test ! -d "$0" || test -x "$0"; }'
  const ended = runTool('setpriv', [...who, 'sh', '-c', look, path])
  // Without the means to find out, the service will tell.
  return ended === null || ended.code === 0
}
