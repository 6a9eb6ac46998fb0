import { join } from 'node:path'
import { xdgFolder } from '../../config/paths.ts'
import { PACKAGE_FOLDER } from '../../daemon/package.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'

/** Where a service and what belongs to it are. */
export interface ServicePlace {
  /** One's own, or the machine's. */
  user: boolean
  /** As systemctl knows it. */
  unit: string
  /** The template in the package, beside the sources. */
  template: string
  /** Where the unit's file belongs. */
  file: string
  config: string
  /** Where the unit takes the key from. */
  key: string
  /** For the machine's: where it may write. */
  stateDir: string | null
}

/** The units as they are shipped. */
const TEMPLATES = join(PACKAGE_FOLDER, 'systemd')
const SYSTEM_UNITS = '/etc/systemd/system'

/** `account`: one of several of the machine's, or null. Throws Problem where there is no home for one's own. */
export function servicePlace(user: boolean, account: string | null, env: NodeJS.ProcessEnv): ServicePlace {
  if (user) return ownPlace(env)
  const name = account === null ? 'albumd.service' : 'albumd@.service'
  const below = account === null ? '' : `/${account}`
  return {
    user: false,
    unit: account === null ? name : `albumd@${account}.service`,
    template: join(TEMPLATES, name),
    file: join(SYSTEM_UNITS, name),
    config: `/etc/albumd${below}/config.yaml`,
    key: `/etc/albumd${below}/api-key`,
    stateDir: `/var/lib/albumd${below}`,
  }
}

function ownPlace(env: NodeJS.ProcessEnv): ServicePlace {
  const folder = xdgFolder(env.XDG_CONFIG_HOME, '.config', env)
  if (folder === null) throw new Problem(EXIT.usage, 'there is no $HOME; set it to the folder that is yours')
  return {
    user: true,
    unit: 'albumd.service',
    template: join(TEMPLATES, 'albumd-user.service'),
    file: join(folder, 'systemd/user/albumd.service'),
    config: join(folder, 'albumd/config.yaml'),
    key: join(folder, 'albumd/api-key'),
    stateDir: null,
  }
}
