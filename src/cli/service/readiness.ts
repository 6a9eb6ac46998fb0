import { existsSync } from 'node:fs'
import { loadConfig } from '../../config/load-config.ts'
import type { Config } from '../../config/schema.ts'
import { SERVICE_USER, type ServicePlace, serviceUserCanRead } from './place.ts'

export interface Readiness {
  /** Why the service can't be started now, each with what to do. */
  missing: string[]
  /** What the service would run without. */
  warnings: string[]
}

/** Whether a service can be started. `words`: the command line that it runs. */
export function readinessOf(place: ServicePlace, program: readonly string[]): Readiness {
  const { config: file, user, stateDir } = place
  const unreadable = user ? [] : program.filter(word => word.startsWith('/') && !serviceUserCanRead(word))
  const missing = unreadable.map(
    path =>
      `${path}: the user ${SERVICE_USER} can't read it; install Node and albumd where everybody may, as in /usr/local, and run this again`,
  )
  if (!existsSync(file))
    return {
      missing: [...missing, `${file}: no such file; "albumd init --config ${file}" writes it`],
      warnings: [],
    }
  if (!user && !serviceUserCanRead(file))
    missing.push(`${file}: the user ${SERVICE_USER} can't read it; chmod 644 it (the key is not in it)`)
  const config = readConfig(file, stateDir, missing)
  if (config === null) return { missing, warnings: [] }
  missing.push(...keyProblems(config, place), ...stateProblems(config, place))
  const warnings = user ? [] : config.mirrors.flatMap(({ folder }) => folderProblems(folder))
  return { missing, warnings }
}

/** Null when the config is wrong; `missing` then says why. */
function readConfig(file: string, stateDir: string | null, missing: string[]): Config | null {
  try {
    const env = stateDir === null ? process.env : { STATE_DIRECTORY: stateDir }
    return loadConfig(file, env)
  } catch (error) {
    missing.push(...(error as Error).message.split('\n'))
    return null
  }
}

function keyProblems({ host }: Config, { key, user }: ServicePlace): string[] {
  const named = host.api_key_file
  if (named === undefined)
    return existsSync(key)
      ? []
      : [`${key}: no such file; write the API key into it, and let nobody else read it (chmod 600)`]
  if (!existsSync(named)) return ['host.api_key_file: no such file; write the API key into it']
  if (user || serviceUserCanRead(named)) return []
  return [
    `host.api_key_file: the user ${SERVICE_USER} can't read it; take the line out of the config, and have the key in ${key}: systemd hands it in`,
  ]
}

function stateProblems({ state_dir }: Config, { stateDir }: ServicePlace): string[] {
  if (stateDir === null || state_dir === stateDir) return []
  return [`state_dir: ${state_dir}: the service may write to ${stateDir} alone; take the line out`]
}

function folderProblems(folder: string): string[] {
  if (!existsSync(folder)) return [`${folder}: no such folder; it is guarded until it is there`]
  if (serviceUserCanRead(folder)) return []
  return [
    `${folder}: the user ${SERVICE_USER} can't read it; it is guarded until it can: setfacl -R -m u:${SERVICE_USER}:rX,d:u:${SERVICE_USER}:rX on it, and u:${SERVICE_USER}:x on the folders above`,
  ]
}
