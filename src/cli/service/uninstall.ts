import { existsSync, rmSync } from 'node:fs'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import type { ServicePlace } from './place.ts'
import { Systemctl } from './systemctl.ts'

/** Stops a service and removes its unit. May be repeated. Answers the exit code. */
export async function uninstall(place: ServicePlace): Promise<number> {
  const { unit, file, user } = place
  if (!user && process.getuid?.() !== 0)
    throw new Problem(EXIT.usage, 'only root may do that: run it with sudo, or with --user for your own')
  const systemctl = new Systemctl(user)
  systemctl.refuseAbsent()
  if (!existsSync(file)) {
    say(`${file} is not there: nothing to do`)
    return EXIT.inSync
  }
  const { ActiveState } = systemctl.show(unit, 'ActiveState')
  systemctl.do('disable', '--quiet', '--now', unit)
  say(ActiveState === 'inactive' ? `${unit} was not running` : `stopped ${unit}`)
  const others = unit.includes('@') ? othersOf(systemctl) : []
  if (others.length > 0) say(`${file} stays: ${others.join(', ')} needs it`)
  else {
    rmSync(file)
    say(`removed ${file}`)
  }
  systemctl.do('daemon-reload')
  // systemd would go on listing a failed unit.
  systemctl.ask('reset-failed', unit)
  say(`config, key and state stay${user ? '' : ', and so does the user albumd'}`)
  return EXIT.inSync
}

/** The accounts that still have a service. */
function othersOf(systemctl: Systemctl): string[] {
  // systemctl ends with 1 when there is no such unit.
  const list = (...what: string[]) => systemctl.ask(...what, '--no-legend', 'albumd@*.service').out
  const enabled = list('list-unit-files', '--state=enabled')
  const running = list('list-units', '--plain', '--state=active,activating')
  const names = `${enabled}\n${running}`.split('\n').map(line => line.trim().split(/\s+/)[0] ?? '')
  return [...new Set(names)].filter(name => /^albumd@.+\.service$/.test(name))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
