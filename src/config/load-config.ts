import { ConfigError, keyText, type Problem, unplaced } from './config-error.ts'
import { readConfigText } from './config-file.ts'
import { crossChecks } from './cross-checks.ts'
import { defaultStateDir, resolvePath, type Surroundings } from './paths.ts'
import { type Config, configSchema, type WrittenConfig } from './schema.ts'
import { type Mistake, mistakesOf } from './wording.ts'
import { readYaml } from './yaml-source.ts'

/** Reads a config. `env` gives $HOME and what the default state_dir depends on. Throws ConfigError with all mistakes. */
export function loadConfig(file: string, env: NodeJS.ProcessEnv): Config {
  return parseConfig(readConfigText(file), { file, env })
}

/**
 * The config in `text`, checked and completed. Relative paths begin at the folder of `around.file`. Throws ConfigError with
 * all mistakes. Does no I/O.
 */
export function parseConfig(text: string, around: Surroundings): Config {
  const { file } = around
  const { value, faults, locate } = readYaml(text)
  const problems: Problem[] = faults.map(fault => ({ file, key: null, ...fault }))
  if (value == null) throw new ConfigError(problems.length > 0 ? problems : [unplaced(file, null, EMPTY)])

  const parsed = configSchema.safeParse(value, { jitless: true })
  const mistakes: Mistake[] = [
    ...(parsed.error?.issues ?? []).flatMap(issue => mistakesOf(issue, configSchema, value)),
    ...crossChecks(value, around),
  ]
  for (const { path, message } of mistakes)
    problems.push({ file, ...locate(path), key: keyText(path), message })
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.toSorted(byPosition))
  return complete(parsed.data, around)
}

const EMPTY = 'is empty; config.example.yaml shows what belongs in it'

function byPosition(one: Problem, other: Problem): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}

/** Fills in what depends on the surroundings or on other keys. */
function complete(written: WrittenConfig, around: Surroundings): Config {
  // The cross-checks have refused paths that can't be resolved.
  const absolute = (path: string) => resolvePath(path, around) ?? path
  const { host, mirrors, state_dir } = written
  return {
    ...written,
    host: {
      ...host,
      site_url: host.site_url ?? new URL(host.base_url).origin,
      ...(host.api_key_file && { api_key_file: absolute(host.api_key_file) }),
      ...(host.ca_file && { ca_file: absolute(host.ca_file) }),
    },
    mirrors: mirrors.map(mirror => ({ ...mirror, folder: absolute(mirror.folder) })),
    state_dir: state_dir === undefined ? (defaultStateDir(around) ?? '') : absolute(state_dir),
  }
}
