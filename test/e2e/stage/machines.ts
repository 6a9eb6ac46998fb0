import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { startAlbumd } from './process.ts'
import { runHere, type Stage } from './stage.ts'

/** One of the machines of an account, in a folder of its own. */
export type Machine = ReturnType<typeof machineIn>

/** A machine with this home. It is set up as the stage is, but for `changes`. */
export function machineIn(stage: Stage, home: string, changes: Record<string, unknown>) {
  const config = join(home, 'albumd.yaml')
  const pictures = join(home, 'pictures')
  const settings = parse(readFileSync(stage.config, 'utf8'))
  const host = { ...settings.host, api_key_file: join(stage.home, 'api-key') }
  const configure = (changes: Record<string, unknown>) => {
    const all = { ...settings, ...changes, host: { ...host, ...(changes.host ?? {}) } }
    writeFileSync(config, stringify(all), { mode: 0o644 })
  }
  mkdirSync(pictures, { recursive: true })
  configure(changes)
  const albumd = (...args: string[]) => runHere([...args, '--config', config], home)
  return {
    home,
    config,
    pictures,
    configure,
    albumd,
    /** Starts the daemon as a process of its own. */
    run: () => startAlbumd({ home, config }, ['run']),
    // biome-ignore lint/suspicious/noExplicitAny: what `status --json` says.
    status: async (): Promise<any> => JSON.parse((await albumd('status', '--json')).out),
  }
}
