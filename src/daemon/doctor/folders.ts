import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { checkFolders } from '../../config/folders.ts'
import type { Config } from '../../config/schema.ts'
import { type Disk, realDisk } from '../../local/disk.ts'
import { lossOf } from '../../local/folder-watcher.ts'
import { rulesOfConfig } from '../../local/ignore-rules.ts'
import { type FolderToLookAt, lookAtFolder, rulesWithin } from '../../local/look.ts'
import { isRemote, type Mount, mayChangeUnseen, mountsOf, unescaped } from '../../local/mount-table.ts'
import { doubtOfRoot } from '../../sync/scan/index.ts'
import { isAtOrBelow, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords, remedyOf } from '../../words/reasons.ts'
import { inDigits, shellWord } from '../../words/text.ts'
import { orNull } from '../or-null.ts'
import { whoRefuses } from '../state/state-problem.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** Whether each mirror's folder is there and can be read as a whole. `folders`: how many there are, each of which needs a
 * watch. `lost`: those that are missing or unreadable. `guarded`: those that another finding is about. */
export async function checkTrees(
  config: Config,
  signal: AbortSignal,
  guarded: readonly string[] = [],
): Promise<{ findings: Finding[]; folders: number; lost: string[] }> {
  const problems = checkFolders(config)
  const findings = problems.map(({ key, message, code }) =>
    fail(
      'folder',
      `${key}: ${message}`,
      code === 'FOLDER_OVERLAP'
        ? 'Give each mirror, and state_dir, a folder of its own'
        : 'Until then nothing of it is uploaded or deleted',
    ),
  )
  const lost = problems.filter(({ code }) => code !== 'FOLDER_OVERLAP').map(({ folder }) => folder)
  let folders = 0
  for (const { folder, ignore } of config.mirrors) {
    if (lost.includes(folder)) continue
    const survey = await surveyFolder(folder, ignore, signal)
    folders += survey.folders
    const found = surveyFinding(folder, survey)
    if (found.status !== 'pass' || !guarded.includes(folder)) findings.push(found)
  }
  return { findings, folders, lost }
}

interface Survey {
  /** How many folders there are, the root included. */
  folders: number
  pictures: number
  /** `first`: the first path that can't be read. */
  unreadable: { folders: number; pictures: number; first: string | null }
}

/** Looks at every folder that a scan would look at, and asks whether this user may read the pictures. It opens none. */
export async function surveyFolder(
  root: string,
  ignore: readonly string[],
  signal: AbortSignal,
): Promise<Survey> {
  const survey: Survey = {
    folders: 0,
    pictures: 0,
    unreadable: { folders: 0, pictures: 0, first: null },
  }
  const { unreadable } = survey
  const open: FolderToLookAt[] = [{ path: '', rules: [rulesOfConfig(ignore)], digest: null }]
  for (let folder = open.pop(); folder !== undefined && !signal.aborted; folder = open.pop()) {
    // Waits for a turn of the event loop, so that an interrupt is noticed in a large tree.
    await turn()
    const { path } = folder
    const found = lookAtFolder(realDisk, root, folder)
    if (found.kind === 'unknown' && WENT_AWAY.has(found.code)) continue
    survey.folders++
    if (found.kind === 'unknown') {
      unreadable.folders++
      unreadable.first ??= join(root, path)
    }
    if (found.kind !== 'different') continue
    const rules = rulesWithin(folder, found.look.ignoreFile)
    for (const name of found.look.folders) open.push({ path: pathOf(path, name), rules, digest: null })
    const pictures = found.look.files.map(({ name }) => name)
    survey.pictures += pictures.length
    const refused = found.look.problems.filter(({ code }) => code === 'UNREADABLE').map(({ name }) => name)
    for (const name of [...refused, ...pictures.filter(name => !mayRead(join(root, path, name)))]) {
      unreadable.pictures++
      unreadable.first ??= join(root, path, name)
    }
  }
  return survey
}

/** The errors of a folder that was removed or replaced during the survey. */
const WENT_AWAY: ReadonlySet<string> = new Set(['ENOENT', 'CHANGED'])

function mayRead(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function surveyFinding(folder: string, { folders, pictures, unreadable }: Survey): Finding {
  const size = `${folder}: folders ${inDigits(folders)}, pictures ${inDigits(pictures)}`
  if (unreadable.first === null) return pass('folder', `${size}; this user can read all`)
  const what = `this user can't read all (folders ${unreadable.folders}, pictures ${unreadable.pictures})`
  const { at, isOwn } = whoRefuses(unreadable.first)
  return fail(
    'folder',
    `${size}; ${what}, the first is ${unreadable.first}`,
    isOwn
      ? `chmod -R u+rX ${shellWord(folder)}`
      : `${at} belongs to another user. Run albumd as that user, or have that user or root say setfacl -R -m u:${process.geteuid?.()}:rX ${shellWord(folder)}`,
  )
}

/** Whether the disks of the folders are mounted, and are this machine's. `fstab`: the text of /etc/fstab. */
export function checkMounts(
  { mirrors, state_dir }: Pick<Config, 'mirrors' | 'state_dir'>,
  mounts: readonly Mount[],
  fstab: string,
): Finding[] {
  if (mounts.length === 0) return []
  const meant = mountPointsOf(fstab)
  const mounted = new Set(mounts.map(({ path }) => path))
  const findings = mirrors.flatMap(({ folder }) => {
    const away = meant.filter(
      path => !mounted.has(path) && (isAtOrBelow(path, folder) || isAtOrBelow(folder, path)),
    )
    const unseen = mountsOf(mounts, folder).filter(mount => mayChangeUnseen(mount, mounts))
    return [
      ...away.map(path =>
        fail('mounts', `${folder}: ${path} is in /etc/fstab and not mounted`, `mount ${shellWord(path)}`),
      ),
      ...unseen.map(({ path, type }) =>
        warn(
          'mounts',
          `${folder}: ${path} (${type}) may change without telling, on another machine or beneath`,
          'Nothing to do: albumd looks there every minute; watch.poll chooses how often',
        ),
      ),
    ]
  })
  const stateMount = mountsOf(mounts, state_dir)[0]
  if (stateMount && isRemote(stateMount))
    findings.push(
      fail(
        'mounts',
        `state_dir ${state_dir} is on a file system of other machines (${stateMount.type}), where a database is not safe`,
        'Name a state_dir on a disk of this machine',
      ),
    )
  return findings.length > 0 ? findings : [pass('mounts', 'all on disks of this machine that are mounted')]
}

/** The mount points in fstab. One line of fstab: device, mount point, type, options, … */
function mountPointsOf(fstab: string): string[] {
  return fstab.split('\n').flatMap(line => {
    const [device = '', path = ''] = line.trim().split(/\s+/)
    return device.startsWith('#') || !path.startsWith('/') || path === '/' ? [] : [unescaped(path)]
  })
}

/** Why deletions wait, where no daemon says it: the root is in doubt now, or the last scan found a doubt. */
export function checkGuards({ mirrors }: Config, synced: Synced, disk: Disk): Finding[] {
  return mirrors.flatMap(({ folder }) => {
    const root = doubtOfRoot(disk, synced, folder)
    if (root) return root.found ? [fail('folder', `guarded: ${inWords(root.reason)}`, ROOT_REMEDY)] : []
    const row = synced.mirrors.of(folder)
    // `SCAN_ENDED`, a scan that ended early, is no finding, because the next scan ends this doubt by itself.
    if (!row || row.guard === null || row.guard_code === 'SCAN_ENDED') return []
    return [fail('folder', `guarded since the last scan: ${inWords(row.guard)}`, SCAN_REMEDY)]
  })
}

const ROOT_REMEDY = 'Until then nothing of this folder is uploaded or deleted'
const SCAN_REMEDY = 'After that, "albumd sync" scans the folder again'

/** The part of the system's watches that albumd may need; the rest is for other programs. */
const WATCHES_SHARE = 0.8

/** Whether the system allows a watch for every folder. `folders`: how many folders there are. */
export function checkWatches({ watch }: Config, folders: number, limit: number | null): Finding {
  if (watch.poll !== undefined) return pass('watching', 'watch.poll is set: folders need no watches')
  if (limit === null) return pass('watching', 'this system has no limit of inotify')
  const said = `every folder needs a watch, ${inDigits(folders)} in all; fs.inotify.max_user_watches is ${inDigits(limit)}`
  if (folders <= limit * WATCHES_SHARE) return pass('watching', said)
  const remedy = remedyOf(lossOf({ code: 'ENOSPC' }, '').message)
  return warn('watching', `${said}, for all programs of this user`, remedy)
}

/** fs.inotify.max_user_watches. Null: this system has no such limit. */
export function watchLimit(): number | null {
  return orNull(() => Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8')))
}
