import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { EXIT, Problem } from '../problem.ts'

interface Ended {
  code: number
  out: string
  err: string
}

export function runTool(file: string, args: readonly string[]): Ended | null {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return null
  if (error) throw error
  return { code: status ?? 1, out: stdout, err: stderr.trim().split('\n')[0]! }
}

/** Whether systemd started this machine, by what sd_booted(3) looks at. */
export function hasSystemd(): boolean {
  return existsSync('/run/systemd/system')
}

export class Systemctl {
  readonly #flags: readonly string[]

  constructor(user: boolean) {
    this.#flags = user ? ['--user'] : []
    const { code, err } = this.ask('show-environment')
    if (code === 0) return
    if (!hasSystemd())
      throw new Problem(
        'systemd has not started this machine. Have "albumd run" started by what starts services here',
      )
    const remedy = user
      ? 'Log in as yourself, not by su or sudo'
      : process.getuid?.() === 0
        ? 'Have "albumd run" started by what starts services here'
        : 'Run it as root, on a machine that systemd has started'
    throw new Problem(`systemd does not answer${err ? ` (${err})` : ''}. ${remedy}`)
  }

  ask(...args: string[]): Ended {
    const ended = runTool('systemctl', [...this.#flags, ...args])
    if (ended) return ended
    throw new Problem(
      'There is no systemd here. Have another service manager run "albumd run", and restart it when it ends',
    )
  }

  /** Runs systemctl. Throws Problem with its message when it fails. */
  do(...args: string[]): string {
    const { code, out, err } = this.ask(...args)
    if (code === 0) return out
    const said = err || `it ended with ${code}`
    throw new Problem(`systemctl ${[...this.#flags, ...args].join(' ')}: ${said}`, EXIT.unexpected)
  }

  isEnabled(unit: string): boolean {
    return this.ask('is-enabled', unit).out.trim() === 'enabled'
  }

  /** Properties of a unit. An unknown property is ''. */
  show<Name extends string>(unit: string, ...names: Name[]): Record<Name, string> {
    const lines = this.do('show', unit, `--property=${names.join(',')}`).split('\n')
    const value = (name: string) => lines.find(line => line.startsWith(`${name}=`))?.slice(name.length + 1)
    return Object.fromEntries(names.map(name => [name, value(name) ?? ''])) as Record<Name, string>
  }
}
