import { hostname } from 'node:os'
import { ENDPOINTS, isLoopback } from '../protocol/endpoints.ts'
import { REQUESTS_PER_SECOND } from '../protocol/limits.ts'
import { printable } from '../words/text.ts'
import { ConfigError, type KeyPath, keyText, type Problem, problemLine, unplaced } from './config-error.ts'
import { readConfigText } from './config-file.ts'
import { holders, type NamedPath, overlaps } from './folders.ts'
import { takeGoneKeys } from './gone-keys.ts'
import { defaultStateDir, keyFileBeside, resolvePath, type Surroundings } from './paths.ts'
import { type Config, configSchema, type WrittenConfig } from './schema.ts'
import { type Mistake, mistakesOf, valueAt } from './wording.ts'
import { readYaml } from './yaml-source.ts'

/** Reads a config. `env` gives $HOME and what the default state_dir depends on. Throws ConfigError with all mistakes. */
export function loadConfig(file: string, env: NodeJS.ProcessEnv): Config {
  return parseConfig(readConfigText(file), { file, env })
}

/** The config in `text`, checked and completed, relative to `around.file`. Does no I/O. Throws ConfigError with all mistakes. */
export function parseConfig(text: string, around: Surroundings): Config {
  const { file } = around
  const { value, faults, locate } = readYaml(text)
  const problems: Problem[] = faults.map(fault => ({ file, key: null, ...fault }))
  if (value == null) throw new ConfigError(problems.length > 0 ? problems : [unplaced(file, null, EMPTY)])

  const toProblem = ({ path, message }: Mistake): Problem => ({
    file,
    ...locate(path),
    key: keyText(path),
    message,
  })
  const gone = takeGoneKeys(value).map(mistake => problemLine(toProblem(mistake)))
  const parsed = configSchema.safeParse(value, { jitless: true })
  const mistakes: Mistake[] = [
    ...(parsed.error?.issues ?? []).flatMap(issue => mistakesOf(issue, configSchema, value)),
    ...crossChecks(value, around),
  ]
  problems.push(...mistakes.map(toProblem))
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.toSorted(byPosition))
  return { ...complete(parsed.data, around), gone }
}

const EMPTY = 'is empty. config.example.yaml shows what belongs in it'

function byPosition(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

function complete(written: WrittenConfig, around: Surroundings): Omit<Config, 'gone'> {
  // No path is null here, because the cross-checks have refused those that can't be resolved.
  const absolute = (path: string) => resolvePath(path, around) ?? path
  const { host, account, mirrors, picgo_server, state_dir } = written
  return {
    ...written,
    host: {
      ...host,
      site_url: host.site_url ?? new URL(host.base_url).origin,
      key_beside: keyFileBeside(around.file),
      ...(host.api_key_file && { api_key_file: absolute(host.api_key_file) }),
      ...(host.ca_file && { ca_file: absolute(host.ca_file) }),
    },
    account: {
      ...account,
      machine: account.machine ?? hostname(),
      ...(account.shared_password_file && {
        shared_password_file: absolute(account.shared_password_file),
      }),
      ...(account.shared_ca_file && { shared_ca_file: absolute(account.shared_ca_file) }),
    },
    mirrors: mirrors.map(mirror => ({ ...mirror, folder: absolute(mirror.folder) })),
    picgo_server: {
      ...picgo_server,
      ...(picgo_server.folder && { folder: absolute(picgo_server.folder) }),
    },
    state_dir: state_dir === undefined ? (defaultStateDir(around) ?? '') : absolute(state_dir),
  }
}

/** Mistakes that concern several keys. The values are taken as written, so that a mistake in a single key hides none of these. */
function crossChecks(config: unknown, around: Surroundings): Mistake[] {
  return [
    ...tooManyRequests(config),
    ...albumWithPresign(config),
    ...homelessPaths(config, around),
    ...overlaps(albumsOf(config), '/'),
    ...overlaps(foldersOf(config, around)),
    ...misplacedState(config, around),
    ...misplacedIntake(config, around),
  ]
}

/** The rates of requests that are above the limits of §8. A host on this machine may allow more. */
function tooManyRequests(config: unknown): Mistake[] {
  const written = valueAt(config, ['host', 'base_url'])
  const address = typeof written === 'string' ? URL.parse(written) : null
  if (!address || isLoopback(address)) return []
  return ENDPOINTS.flatMap(endpoint => {
    const path = ['host', 'requests_per_second', endpoint]
    const written = valueAt(config, path)
    const most = REQUESTS_PER_SECOND[endpoint]
    const isMore = written === 'unlimited' || (typeof written === 'number' && written > most)
    if (!isMore) return []
    return { path, message: `is ${written}, must be at most ${most}: the host allows no more` }
  })
}

/** Mirrors with an album, when pictures are uploaded by the presign form (§4.3), which can't name an album. */
function albumWithPresign(config: unknown): Mistake[] {
  if (valueAt(config, ['host', 'upload_form']) !== 'presign') return []
  const [first] = albumsOf(config).filter(({ path }) => path !== '')
  if (!first) return []
  const message = `must be "" with host.upload_form presign, which knows no albums; or set host.upload_form to credential`
  return [{ path: first.at, message }]
}

function homelessPaths(config: unknown, around: Surroundings): Mistake[] {
  const keys = [
    ['host', 'api_key_file'],
    ['host', 'ca_file'],
    ['account', 'shared_password_file'],
    ['account', 'shared_ca_file'],
    INTAKE,
    ['state_dir'],
    ...ofMirrors(config, 'folder'),
  ]
  return textsAt(config, keys)
    .filter(({ path }) => resolvePath(path, around) === null)
    .map(({ at }) => ({ path: at, message: 'begins with ~, and $HOME is not set; write the whole path' }))
}

function ofMirrors(config: unknown, key: string): KeyPath[] {
  const mirrors = valueAt(config, ['mirrors'])
  return Array.isArray(mirrors) ? mirrors.map((_, index) => ['mirrors', index, key]) : []
}

function textsAt(config: unknown, keys: readonly KeyPath[]): NamedPath[] {
  return keys.flatMap(at => {
    const path = valueAt(config, at)
    return typeof path === 'string' ? { at, path } : []
  })
}

function albumsOf(config: unknown): NamedPath[] {
  return textsAt(config, ofMirrors(config, 'album'))
}

function foldersOf(config: unknown, around: Surroundings): NamedPath[] {
  return textsAt(config, ofMirrors(config, 'folder')).flatMap(({ at, path }) => {
    const absolute = path && resolvePath(path, around)
    return absolute ? { at, path: absolute } : []
  })
}

function misplacedState(config: unknown, around: Surroundings): Mistake[] {
  const written = valueAt(config, ['state_dir'])
  if (typeof written !== 'string' && written !== undefined) return []
  const stateDir = written === undefined ? defaultStateDir(around) : resolvePath(written, around)
  if (stateDir !== null) return holders(stateDir, foldersOf(config, around))
  if (written !== undefined) return []
  return [{ path: ['state_dir'], message: 'is missing, and neither $STATE_DIRECTORY nor $HOME is set' }]
}

const INTAKE = ['picgo_server', 'folder']

function misplacedIntake(config: unknown, around: Surroundings): Mistake[] {
  const [folder] = textsAt(config, [INTAKE])
  if (!folder) {
    const isMissing = valueAt(config, ['picgo_server', 'listen']) !== undefined
    return isMissing ? [{ path: INTAKE, message: 'is missing; name a folder of a mirror' }] : []
  }
  const path = resolvePath(folder.path, around)
  if (path === null || holders(path, foldersOf(config, around)).length > 0) return []
  return [{ path: INTAKE, message: `${printable(path)} lies in the folder of no mirror` }]
}
