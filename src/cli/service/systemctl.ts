import { spawnSync } from 'node:child_process'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'

export interface Ended {
  code: number
  out: string
  err: string
}

/** Runs a command to its end. Null when there is no such command. */
export function runTool(file: string, args: readonly string[]): Ended | null {
  const { status, stdout, stderr, error } = spawnSync(file, args, { encoding: 'utf8' })
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return null
  if (error) throw error
  return { code: status ?? 1, out: stdout, err: stderr }
}

/** Talks to the service manager of the machine or of the user. Throws Problem when there is none. */
export class Systemctl {
  readonly #flags: readonly string[]

  constructor(user: boolean) {
    this.#flags = user ? ['--user'] : []
  }

  ask(...args: string[]): Ended {
    const ended = runTool('systemctl', [...this.#flags, ...args])
    if (ended === null)
      throw new Problem(
        EXIT.usage,
        'there is no systemd here; have another service manager run "albumd run" and restart it when it ends',
      )
    return ended
  }

  /** Runs systemctl. Throws Problem with its message when it fails. */
  do(...args: string[]): string {
    const { code, out, err } = this.ask(...args)
    if (code === 0) return out
    const said = err.trim().split('\n')[0] || `it ended with ${code}`
    throw new Problem(EXIT.unexpected, `systemctl ${[...this.#flags, ...args].join(' ')}: ${said}`)
  }

  /** Throws Problem when systemd does not answer. */
  refuseAbsent(): void {
    const { code, err } = this.ask('show-environment')
    if (code === 0) return
    const remedy =
      this.#flags.length > 0
        ? 'log in as yourself, not by su or sudo'
        : process.getuid?.() === 0
          ? 'the machine was not started by systemd; have "albumd run" started by what starts services here'
          : 'the machine was not started by systemd, or you need to be root'
    const said = err.trim().split('\n')[0]
    throw new Problem(EXIT.usage, `systemd does not answer${said ? ` (${said})` : ''}; ${remedy}`)
  }

  /** Properties of a unit. An unknown property is ''. */
  show<Name extends string>(unit: string, ...names: Name[]): Record<Name, string> {
    const out = this.do('show', unit, `--property=${names.join(',')}`)
    const known = new Map(
      out.split('\n').map(line => {
        const at = line.indexOf('=')
        return [line.slice(0, at), line.slice(at + 1)]
      }),
    )
    return Object.fromEntries(names.map(name => [name, known.get(name) ?? ''])) as Record<Name, string>
  }
}
