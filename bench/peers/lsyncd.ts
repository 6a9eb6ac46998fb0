import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Daemon, startProgram } from '../ours/daemon.ts'

/** lsyncd as it comes: it collects for fifteen seconds, then lets rsync copy. */
export function startLsyncd(home: string, from: string, to: string): Daemon {
  mkdirSync(home, { recursive: true })
  const config = join(home, 'lsyncd.lua')
  writeFileSync(
    config,
    `settings { nodaemon = true, logfile = "${home}/lsyncd.log", statusFile = "${home}/status" }
sync { default.rsync, source = "${from}", target = "${to}" }
`,
  )
  return startProgram('lsyncd', ['-nodaemon', config], join(home, 'log'))
}
