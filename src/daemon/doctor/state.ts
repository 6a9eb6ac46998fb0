import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { lookAt } from '../../sync/scan/index.ts'
import { isAtOrBelow } from '../../sync/tree-path.ts'
import { closeRead, openDatabaseToRead } from '../../synced/database.ts'
import { explained } from '../../synced/state-error.ts'
import { inWords } from '../../words/reasons.ts'
import { inDigits, shellWord } from '../../words/text.ts'
import { orNull } from '../or-null.ts'
import { stateFiles } from '../state/claim.ts'
import { readState, refuseOther } from '../state/state.ts'
import { stateProblem } from '../state/state-problem.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** With fewer free bytes the doctor warns: the state may have no room for its next day. */
const LITTLE_ROOM = 2 ** 30
/** With fewer free bytes the check fails: the state may have no room for its next hour. */
const NO_ROOM = 64 * 2 ** 20
const FEW_FILES = 1000

export function* checkStateFolder({ state_dir }: Pick<Config, 'state_dir'>): Generator<Finding> {
  const folder = nearest(state_dir)
  if (folder !== state_dir)
    return yield mayWrite(folder)
      ? pass('state', `${state_dir} is not there yet; the first start makes it`)
      : fail(
          'state',
          `${state_dir} is not there, and this user can't make it`,
          'systemd makes it for the service. Else make it, and chown it to the user that albumd runs as',
        )
  const stats = statSync(state_dir)
  if (!stats.isDirectory())
    return yield fail('state', `${state_dir} is not a folder`, 'Move it away, or name another state_dir')
  const { mode, uid } = stats
  const isOfAnother = process.getuid !== undefined && uid !== process.getuid()
  const isOpenToOthers = process.platform !== 'win32' && (mode & 0o077) !== 0
  if (!mayWrite(state_dir))
    yield fail(
      'state',
      `${state_dir}: this user can't write there`,
      isOfAnother
        ? 'Run the doctor as the user that albumd runs as, or chown the folder to that user'
        : (mode & 0o700) === 0o700
          ? 'Check whether its disk is mounted read-only'
          : `chmod u+rwx ${shellWord(state_dir)}`,
    )
  else if (!isOpenToOthers) yield pass('state', `${state_dir}: writable, and its user's alone`)
  if (isOpenToOthers)
    yield warn('state', `${state_dir}: other users can look into it`, `chmod 700 ${shellWord(state_dir)}`)
}

export function checkDatabase(config: Config): Finding {
  const { database } = stateFiles(config.state_dir)
  try {
    const problem = stateProblem(config.state_dir)
    if (problem)
      return fail('database', problem, 'Run "albumd sync"; no picture is uploaded twice because of this')
    if (!existsSync(database)) return pass('database', 'nothing is recorded yet')
    const fault = faultIn(database)
    if (fault !== null)
      return fail(
        'database',
        `${database} is damaged (${fault})`,
        'Stop albumd, move the file away and run "albumd sync", which makes new records from what the host lists',
      )
    readState(config, synced => refuseOther(synced, config))
    return pass('database', `${database}: whole`)
  } catch (error) {
    const why = explained(error, database)
    if (!(why instanceof Error) || !('code' in why)) throw why
    return fail('database', why.message, null)
  }
}

function faultIn(database: string): string | null {
  const db = openDatabaseToRead(database)
  try {
    const fault = db.pragma('integrity_check(1)', { simple: true }) as string
    if (fault !== 'ok') return fault
    const orphans = db.pragma('foreign_key_check') as unknown[]
    return orphans.length > 0 ? `${orphans.length} rows refer to rows that do not exist` : null
  } finally {
    closeRead(db, database)
  }
}

export function checkDiskSpace({ state_dir }: Pick<Config, 'state_dir'>): Finding {
  const { bavail, bsize, files, ffree } = statfsSync(nearest(state_dir))
  const free = bavail * bsize
  const megabytes = (bytes: number) => `${inDigits(Math.round(bytes / 2 ** 20))} MB`
  const said = `${state_dir}: ${megabytes(free)} free, of at least ${megabytes(LITTLE_ROOM)} that should be`
  const remedy = 'Make room on the disk of state_dir'
  if (free < NO_ROOM) return fail('disk_space', said, remedy)
  // Some file systems, such as btrfs, do not count files; `files` is 0 there.
  if (files > 0 && ffree < FEW_FILES)
    return fail('disk_space', `${state_dir}: ${ffree} more files can be made on its disk`, remedy)
  return free < LITTLE_ROOM ? warn('disk_space', said, remedy) : pass('disk_space', said)
}

/** Whether the folder for pictures from editors can be written. It is made with the first picture. */
export function* checkIntake({
  picgo_server: { folder },
  mirrors,
}: Pick<Config, 'picgo_server' | 'mirrors'>): Generator<Finding> {
  if (folder === undefined) return
  const at = nearest(folder)
  const real = realPathOf(folder)
  const mirror = mirrors.find(mirror => isAtOrBelow(real, realPathOf(mirror.folder)))
  // The folder need not be there yet, so the one above tells what a folder looks like.
  const disk = { ...realDisk, lstat: (path: string) => realDisk.lstat(nearest(path)) }
  const found = mirror && lookAt(disk, { mirror, path: real.slice(realPathOf(mirror.folder).length + 1) })
  if (found?.kind === 'left_out')
    yield fail('picgo_server', `${folder} is left out: ${inWords(found.reason)}`, 'Name another folder')
  else if (mayWrite(at)) yield pass('picgo_server', `this user can put pictures into ${folder}`)
  else
    yield fail(
      'picgo_server',
      `this user can't put pictures into ${folder}`,
      `Let the user that runs albumd write in ${at}`,
    )
}

function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))
}

function mayWrite(folder: string): boolean {
  return orNull(() => accessSync(folder, constants.W_OK | constants.X_OK)) !== null
}
