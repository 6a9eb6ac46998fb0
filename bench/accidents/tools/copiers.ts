import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { giveToUser, type Place } from '../place.ts'
import { Program } from '../program.ts'
import { folderSide, passes, type Tool, unchanged, type Variant } from './tool.ts'

/** At most so many deletions in a pass. */
const LIMIT = '50'

/** A folder for what this pass replaces, as the manuals recommend. */
function keptNow({ versions }: Place): string {
  return join(versions, new Date().toISOString().replaceAll(':', ''))
}

async function rsync(place: Place, options: () => string[]): Promise<Tool> {
  return passes({
    place,
    side: folderSide(place),
    line: () => ['rsync', '-a', '--delete', ...options(), `${place.pictures}/`, `${place.remote}/`],
    trouble: /rsync error|rsync:|IO error|max-delete/,
  })
}

async function rclone(place: Place, options: () => string[]): Promise<Tool> {
  return passes({
    place,
    side: folderSide(place),
    line: () => ['rclone', 'sync', ...options(), '--config', '', place.pictures, place.remote],
    trouble: /ERROR|Fatal|Failed|not deleting/,
  })
}

async function unison(place: Place, options: () => string[]): Promise<Tool> {
  const state = join(place.home, 'unison')
  mkdirSync(state)
  giveToUser(state)
  return passes({
    place,
    side: folderSide(place),
    line: () => [
      'unison',
      place.pictures,
      place.remote,
      '-ui',
      'text',
      '-batch',
      '-auto',
      '-terse',
      ...options(),
    ],
    env: { UNISON: state },
    trouble: /fatal|error|failed:|denied|emptied|mountpoint|skipped:/i,
    loseState() {
      for (const name of readdirSync(state)) rmSync(join(state, name), { recursive: true })
    },
  })
}

/** It collects for a second, not for fifteen, so that a cell ends. */
async function lsyncd(place: Place, isCareful: boolean): Promise<Tool> {
  const { home, pictures, remote, versions } = place
  const config = join(home, 'lsyncd.lua')
  const extra = isCareful ? ['--max-delete=50', '--backup', `--backup-dir=${versions}`, '--suffix=.old'] : []
  writeFileSync(
    config,
    `settings { nodaemon = true, statusFile = "${home}/status" }
sync { default.rsync, source = "${pictures}", target = "${remote}", delay = 1,
  ${isCareful ? "delete = 'running'," : ''} rsync = { archive = true, _extra = { ${extra.map(each => `"${each}"`).join(', ')} } } }
`,
  )
  const side = folderSide(place)
  let program: Program | null = null
  let read = 0
  return {
    ...side,
    async start() {
      program = new Program('lsyncd', ['-nodaemon', config], join(home, 'log'), { HOME: home })
    },
    async settle() {
      await sleep(3000)
      await unchanged(side.signature, 7)
    },
    stop: async () => program?.stop(),
    kill: async () => program?.kill(),
    // Its other file is only written.
    loseState: () => rmSync(join(home, 'status'), { force: true }),
    async told() {
      const said = program!.said()
      const lines = said.slice(read).split('\n')
      read = said.length
      const trouble = lines.filter(line => /error|warn|fail|denied|max-delete/i.test(line))
      return program!.runs ? trouble : [...trouble, 'it has ended']
    },
    async close() {},
  }
}

export const COPIERS: readonly Variant[] = [
  { tool: 'rsync', how: 'default', needs: ['rsync'], make: place => rsync(place, () => []) },
  {
    tool: 'rsync',
    how: '`--max-delete`, `--backup`',
    needs: ['rsync'],
    make: place =>
      rsync(place, () => [`--max-delete=${LIMIT}`, '--backup', `--backup-dir=${keptNow(place)}`]),
  },
  { tool: 'rclone sync', how: 'default', needs: ['rclone'], make: place => rclone(place, () => []) },
  {
    tool: 'rclone sync',
    how: '`--max-delete`, `--backup-dir`',
    needs: ['rclone'],
    make: place => rclone(place, () => ['--max-delete', LIMIT, '--backup-dir', keptNow(place)]),
  },
  { tool: 'lsyncd', how: 'default', needs: ['lsyncd', 'rsync'], make: place => lsyncd(place, false) },
  {
    tool: 'lsyncd',
    how: "`delete = 'running'`, `--max-delete`, `--backup`",
    needs: ['lsyncd', 'rsync'],
    make: place => lsyncd(place, true),
  },
  { tool: 'unison', how: 'default', needs: ['unison'], make: place => unison(place, () => []) },
  {
    tool: 'unison',
    how: '`mountpoint`, `backup`',
    needs: ['unison'],
    make: place =>
      unison(place, () => [
        // It must be on both sides, so the first pass goes without.
        ...(existsSync(join(place.remote, 'Disk/D1')) ? ['-mountpoint', 'Disk/D1'] : []),
        ...['-backup', 'Name *', '-backuploc', 'central', '-backupdir', place.versions, '-maxbackups', '5'],
      ]),
  },
]
