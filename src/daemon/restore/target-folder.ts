import { constants, existsSync, statSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { RESTORE_FOLDER } from '../../local/look.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { toDisk } from '../../local/to-disk.ts'
import { isAtOrBelow } from '../../sync/tree-path.ts'
import { type Lock, lockFolder } from '../../synced/lock.ts'
import { NotPossible } from '../commands/command.ts'
import { diskProblem, diskRefuses } from './picture-problem.ts'

/** The folder that a restore fills. It was empty when the restore began, and no other albumd works in it. */
export type TargetFolder = Awaited<ReturnType<typeof openTarget>>

/** What is restored, and where. A restore goes on only in a folder in which the same was begun. */
export interface TargetRequest {
  folder: string
  mirrors: readonly string[] | 'all that the host lists'
  at?: string
  deleted?: boolean
  /** Where the folder lies in a mirror, and so may hold files. `was`: what the records say lay there; null: nothing. A missing folder is made. */
  place?: { mirror: string; was: 'folder' | 'picture' | null } | null
}

/** The file in `own` that names the host and the mirrors of the restore. */
const MARK = 'restore.json'
/** The file in `own` with the path of each image. The listing may change, and a later run would choose other paths. */
const PATHS = 'paths.json'

/** The file in `own` with the time whose pictures are restored. Without it, "2d" would mean another time in each run. */
const MOMENT = 'moment.json'

const ASIDE = '.albumd-replaced'

const NOTES: ReadonlySet<string> = new Set([MARK, PATHS, MOMENT])

/** Names that a folder may hold and still count as empty. A new file system has a lost+found. */
const NOT_COUNTED: ReadonlySet<string> = new Set([RESTORE_FOLDER, 'lost+found'])

/** Makes the folder, or takes one that is empty, lies in a mirror, or was begun by an earlier restore. Throws NotPossible and
 * LockedError. */
export async function openTarget(
  config: Config,
  { folder, mirrors: wanted, at, deleted = false, place = null }: TargetRequest,
) {
  const mark = markOf(config, wanted, at)
  const takesAt = typeof wanted !== 'string' && !deleted
  if (!place) refuseLocation(realPathOf(resolve(folder)), config, at, takesAt)
  const root = place ? await rootInMirror(folder, place) : await makeRoot(folder, wanted)
  if (!place) refuseLocation(root, config, at, takesAt)
  const own = join(root, RESTORE_FOLDER)
  const aside = place && join(root, ASIDE)
  if (aside) await refuseNoFolder(aside)
  if (place) await makeOwn(root, own)
  // The folder of a mirror is perhaps locked by a daemon, so only `own` is locked there.
  const lock = await lockTarget(place ? own : root)
  try {
    const refuse = refusing(root)
    await begin(root, own, mark, place !== null).catch(refuse)
    const write = (name: string, value: unknown) => keep(join(own, name), JSON.stringify(value)).catch(refuse)
    return {
      root,
      /** A folder on the same disk, for files that are not complete yet and for the restore's notes. */
      own,
      /** The folder for files that have a picture's place and other bytes. Null: they stay, and the picture is missing. */
      aside,
      /** The path of each image, as the first run chose it. Empty until `keepPaths` was called. */
      async paths(): Promise<Map<string, string>> {
        return new Map(JSON.parse((await readOwn(join(own, PATHS))) ?? '[]'))
      },
      /** Returns a function that returns the same text for paths that are one on the disk. */
      foldNames: () => foldingIn(root),
      /** Throws NotPossible. */
      keepPaths: (paths: ReadonlyMap<string, string>) => write(PATHS, [...paths]),
      /** The time whose pictures are restored: the time that the first run kept, or else `now`. Throws NotPossible. */
      async moment(now: number): Promise<number> {
        const kept = await readOwn(join(own, MOMENT))
        if (kept !== null) return JSON.parse(kept)
        await write(MOMENT, now)
        return now
      },
      /** Removes `own` when the restore is complete or, outside of a mirror, when it has restored nothing. Otherwise a later run
       * goes on, and nothing that is missing is deleted meanwhile. Returns whether `own` stays. */
      async close(complete: boolean): Promise<boolean> {
        try {
          if (!complete && (place || (await namesIn(root)).length > 0)) return true
          await rm(own, { recursive: true, force: true })
          toDisk(root)
          return false
        } catch (error) {
          // Only a complete restore throws this error. An incomplete one has already said what is wrong.
          if (complete) throw error
          return true
        } finally {
          lock.release()
        }
      },
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Throws NotPossible for a folder outside of the mirrors that can't be filled. Writes nothing. */
export async function refuseTarget(config: Config, { folder, mirrors, at }: TargetRequest): Promise<void> {
  const path = resolve(folder)
  const root = realPathOf(path)
  refuseLocation(root, config, at, true)
  const there = await lstat(root).catch(() => null)
  if (there ? !there.isDirectory() : await isLink(path)) throw noFolder(path)
  if (there)
    await refuseHeld(root, join(root, RESTORE_FOLDER), markOf(config, mirrors, at)).catch(refusing(root))
}

function refusing(root: string): (error: unknown) => never {
  return error => {
    if (error instanceof NotPossible) throw error
    throw new NotPossible(diskProblem(error, root).message)
  }
}

function noFolder(path: string): NotPossible {
  return new NotPossible(`${path} is not a folder. Name an empty folder, or a new one`)
}

function markOf({ host }: Config, wanted: TargetRequest['mirrors'], at: string | undefined): string {
  const mirrors = typeof wanted === 'string' ? wanted : [...wanted].sort()
  return JSON.stringify({ base_url: host.base_url, mirrors, at })
}

/** The time that an interrupted restore of the same was restoring in this folder. Null: none was begun. */
export async function begunMoment(
  config: Config,
  { folder, mirrors, at }: TargetRequest,
): Promise<number | null> {
  const own = join(resolve(folder), RESTORE_FOLDER)
  if ((await readOwn(join(own, MARK))) !== markOf(config, mirrors, at)) return null
  return JSON.parse((await readOwn(join(own, MOMENT))) ?? 'null')
}

/** A half filled folder in a mirror would look like deletions. `takesAt`: the command takes --at too. */
function refuseLocation(
  root: string,
  { mirrors, state_dir }: Config,
  at: string | undefined,
  takesAt: boolean,
): void {
  const mirror = mirrors.find(({ folder }) => isAtOrBelow(root, folder) || isAtOrBelow(folder, root))
  if (mirror && at !== undefined)
    throw new NotPossible(
      `${root} holds the mirror ${mirror.folder}. Name the mirror, a folder in it, or an empty folder elsewhere`,
    )
  if (mirror)
    throw new NotPossible(
      `${root} is, holds or lies in the mirror ${mirror.folder}, where half a restore would look like deletions. Restore into another folder${takesAt ? ', or say --at' : ''}`,
    )
  if (isAtOrBelow(root, realPathOf(state_dir)))
    throw new NotPossible(`${root} lies in state_dir. Restore into another folder`)
}

async function isLink(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isSymbolicLink() ?? false
}

/** Makes the folder as open as the folders of its mirrors, or else as the one that it is put in. */
async function makeRoot(folder: string, mirrors: TargetRequest['mirrors']): Promise<string> {
  const path = resolve(folder)
  try {
    const like =
      typeof mirrors === 'string'
        ? []
        : mirrors.flatMap(mirror => statSync(mirror, { throwIfNoEntry: false }) ?? [])
    makeFolder(join(realPathOf(dirname(path)), basename(path)), 0o777, like)
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR' || (await isLink(path))) throw noFolder(path)
    throw new NotPossible(diskRefuses(path, code) ?? `${path} can't be made (${code}). Name another folder`)
  }
}

/** The real path of a folder in a mirror. Throws NotPossible where the records know no picture in it. */
async function rootInMirror(
  folder: string,
  { mirror, was }: NonNullable<TargetRequest['place']>,
): Promise<string> {
  const path = resolve(folder)
  const root = await realpath(path).catch(() => null)
  const isFolder = root !== null && (await lstat(root)).isDirectory()
  if (!isFolder && (root !== null || was === 'picture'))
    throw new NotPossible(
      `${path} is ${was === 'picture' ? 'a picture' : 'not a folder'}. Name the folder that holds it, or an empty folder elsewhere`,
    )
  if (was === 'folder') return isFolder ? root : makeRoot(folder, [])
  throw new NotPossible(
    `${path} ${isFolder ? 'lies' : 'is not there, lies'} in the mirror ${mirror}, and had no picture then. Name another folder or time`,
  )
}

async function lockTarget(root: string): Promise<Lock> {
  const { dev, ino, birthtimeMs: birthtime } = await lstat(root)
  return lockFolder(root, { dev, ino, birthtime }, 'folder_in_use')
}

/** Throws NotPossible where the folder holds anything but a begun restore of the same. Returns the text of its file MARK. */
async function refuseHeld(root: string, own: string, mark: string): Promise<string | null> {
  const before = await readOwn(join(own, MARK))
  if (before === mark || (await namesIn(root)).length === 0) return before
  throw new NotPossible(
    before === null
      ? `${root} is not empty, and no restore is under way in it. Name an empty folder, a new one, or one where a restore was begun`
      : `${root} has a restore of other mirrors or of another time in it. Name another folder`,
  )
}

/** Makes `own` and its file MARK. `mark`: the text of that file. `mayHold`: the folder need not be empty. */
async function begin(root: string, own: string, mark: string, mayHold: boolean): Promise<void> {
  const file = join(own, MARK)
  const before = mayHold ? await readOwn(file) : await refuseHeld(root, own, mark)
  await makeOwn(root, own)
  // Removes the incomplete pictures of an earlier run. Keeps its notes when they are of the same restore.
  for (const name of await readdir(own))
    if (before !== mark || !NOTES.has(name)) await rm(join(own, name), { recursive: true, force: true })
  if (before === mark) return
  await keep(file, mark)
  toDisk(root)
}

/** For `foldNames`. Names that differ in the Unicode form of accents count as one: few disks tell them apart. */
function foldingIn(root: string): (path: string) => string {
  const isCaseless = existsSync(join(root, RESTORE_FOLDER.toUpperCase()))
  return path => (isCaseless ? path.normalize().toLowerCase() : path.normalize())
}

async function namesIn(root: string): Promise<string[]> {
  return (await readdir(root)).filter(name => !NOT_COUNTED.has(name))
}

async function keep(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`
  await writeFile(temporary, text, { flag: 'wx', flush: true })
  await rename(temporary, file)
  toDisk(dirname(file))
}

async function makeOwn(root: string, own: string): Promise<void> {
  await mkdir(own, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST')
      throw new NotPossible(
        diskRefuses(root, error.code) ?? `${root} can't be written to (${error.code}). Check its permissions`,
      )
  })
  await refuseNoFolder(own)
}

/** Throws for a link, which may lead out of the folder that is filled, and for a file. */
async function refuseNoFolder(path: string): Promise<void> {
  const there = await lstat(path).catch(() => null)
  if (there && !there.isDirectory())
    throw new NotPossible(`${path} is not a folder. Move it away, or restore into another folder`)
}

function readOwn(file: string): Promise<string | null> {
  const flag = constants.O_RDONLY | constants.O_NOFOLLOW
  return readFile(file, { encoding: 'utf8', flag }).catch(() => null)
}

/** Whether a recorded path leads below the folder that is filled. Somebody may have changed the database. */
export function isSafePath(path: string): boolean {
  if (path.includes('\0')) return false
  const parts = path.split('/')
  return parts.every(part => part !== '' && part !== '.' && part !== '..') && parts[0] !== RESTORE_FOLDER
}

const NAME_MAX = 255
/** The longest extension. A longer one counts as part of the name, and may be shortened. */
const EXTENSION_MAX = 16
const ADDITION_MAX = 100

/** A file name for a listed name, with "_" for what none may hold. A long name keeps its extension; `addition` goes before it. */
export function safeName(name: string, addition = ''): string {
  const plain = (text: string) => text.toWellFormed().replaceAll(/[/\0]/g, '_')
  const full = plain(name)
  const dot = full.lastIndexOf('.')
  const extension = dot > 0 && full.length - dot <= EXTENSION_MAX ? full.slice(dot) : ''
  const stem = full.slice(0, full.length - extension.length)
  const end = beginning(plain(addition), ADDITION_MAX) + extension
  const safe = beginning(stem, NAME_MAX - Buffer.byteLength(end)) + end
  return ['', '.', '..', RESTORE_FOLDER].includes(safe.toLowerCase()) ? `_${safe}` : safe
}

function beginning(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}
