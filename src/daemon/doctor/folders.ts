import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { checkFolders } from '../../config/folders.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { lossOf } from '../../local/folder-watcher.ts'
import { rulesOfConfig } from '../../local/ignore-rules.ts'
import { type FolderToLookAt, lookAtFolder, rulesWithin } from '../../local/look.ts'
import { isRemote, type Mount, mayChangeUnseen, mountsOf } from '../../local/mount-table.ts'
import { pathOf } from '../../sync/tree-path.ts'
import { remedyOf } from '../../words/reasons.ts'
import { inDigits, shellWord } from '../../words/text.ts'
import { orNull } from '../or-null.ts'
import { whoRefuses } from '../state/state-problem.ts'
import { type Finding, fail, pass, warn } from './finding.ts'

/** Whether each mirror's folder is there and can be read as a whole. `folders`: how many folders need a watch. `lost`: the
 * mirrors' folders that are missing or unreadable. `guarded`: those that another finding is about. */
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
  for (const mirror of config.mirrors) {
    const { folder } = mirror
    if (lost.includes(folder)) continue
    const survey = await surveyFolder(mirror, signal)
    folders += survey.folders
    const found = surveyFinding(folder, survey)
    if (found.status !== 'pass' || !guarded.includes(folder)) findings.push(found)
  }
  return { findings, folders, lost }
}

interface Survey {
  folders: number
  pictures: number
  unreadable: { folders: number; pictures: number; first: string | null }
}

/** Looks at every folder that a scan would look at, and asks whether this user may read the pictures. Opens no picture. */
export async function surveyFolder(
  {
    folder: root,
    ignore,
    converts,
  }: Omit<FolderToLookAt, 'path' | 'rules' | 'digest'> & { folder: string; ignore: readonly string[] },
  signal: AbortSignal,
): Promise<Survey> {
  const survey: Survey = {
    folders: 0,
    pictures: 0,
    unreadable: { folders: 0, pictures: 0, first: null },
  }
  const { unreadable } = survey
  const open: FolderToLookAt[] = [{ path: '', rules: [rulesOfConfig(ignore)], converts, digest: null }]
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
    for (const name of found.look.folders)
      open.push({ path: pathOf(path, name), rules, converts, digest: null })
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

/** Warns of mounts that may change without an event, and of a state on a network file system, where a database may be damaged. */
export function* checkMounts(
  { mirrors, state_dir }: { mirrors: readonly { folder: string }[]; state_dir: string },
  mounts: readonly Mount[],
): Generator<Finding> {
  for (const { folder } of mirrors)
    for (const mount of mountsOf(mounts, folder).filter(mount => mayChangeUnseen(mount, mounts)))
      yield warn(
        'mounts',
        `${folder}: ${mount.path} (${mount.type}) may change without telling, on another machine or beneath`,
        'Nothing to do: albumd looks there every minute; watch.poll chooses how often',
      )
  const [mount] = mountsOf(mounts, state_dir)
  if (mount && isRemote(mount))
    yield fail(
      'mounts',
      `state_dir ${state_dir} is on a file system of other machines (${mount.type}), where a database is not safe`,
      'Name a state_dir on a disk of this machine',
    )
}

/** The part of the system's watches that albumd may need. The rest is for other programs. */
const WATCHES_SHARE = 0.8

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
