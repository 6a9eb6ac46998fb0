import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { realPathOf } from '../../config/real-path.ts'
import type { Config } from '../../config/schema.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { isAtOrBelow } from '../../sync/tree-path.ts'
import { type Lock, LockedError, lockFolder } from '../../synced/lock.ts'
import { NotPossible } from '../commands/command.ts'
import { diskProblem } from './disk-problem.ts'
import { OWN_FOLDER } from './safe-path.ts'
import { syncFolder } from './sync-folder.ts'

/** A folder that is filled: empty when it was begun, and this process's alone. */
export interface TargetFolder {
  /** Its real path. */
  root: string
  /** For files that are not whole yet, on the same disk. */
  own: string
  /** `whole`: nothing of the restore is left to do. Else what marks the folder stays, so that it can go on. */
  close(whole: boolean): Promise<void>
}

/** What is restored: a folder that was begun with something else is not gone on with. */
interface Purpose {
  base_url: string
  mirrors: readonly string[]
}

/** What new file systems hold by themselves. */
const NOT_COUNTED: ReadonlySet<string> = new Set([OWN_FOLDER, 'lost+found'])

/**
 * Makes the folder, or takes an empty one, or one that a restore of the same mirrors has begun. Throws NotPossible and
 * LockedError.
 */
export async function openTarget(
  folder: string,
  config: Config,
  mirrors: readonly string[],
): Promise<TargetFolder> {
  const purpose: Purpose = { base_url: config.host.base_url, mirrors: [...mirrors].sort() }
  refusePlace(realPathOf(resolve(folder)), config)
  const root = await made(folder)
  refusePlace(root, config)
  const lock = await lockTarget(root)
  try {
    const own = join(root, OWN_FOLDER)
    await begin(root, own, purpose).catch(error => {
      if (error instanceof NotPossible) throw error
      throw new NotPossible(diskProblem(error, root).message)
    })
    return {
      root,
      own,
      async close(whole) {
        try {
          if (!whole) return
          await rm(own, { recursive: true, force: true })
          await syncFolder(root)
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

/**
 * A daemon that finds a mirror's folder half filled would take the other half for deleted. And nobody's state is a place
 * for pictures.
 */
function refusePlace(root: string, { mirrors, state_dir }: Config): void {
  const mirror = mirrors.find(({ folder }) => isAtOrBelow(root, folder) || isAtOrBelow(folder, root))
  if (mirror)
    throw new NotPossible(
      `${root}: it is, holds or lies in the mirror ${mirror.folder}, and half a restore would look like deletions there; restore into another folder, and move it when it is whole`,
    )
  if (isAtOrBelow(root, realPathOf(state_dir)))
    throw new NotPossible(`${root}: it lies in state_dir; restore into another folder`)
}

async function made(folder: string): Promise<string> {
  const path = resolve(folder)
  try {
    makeFolder(path, 0o777)
    return await realpath(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new NotPossible(
      code === 'EEXIST' || code === 'ENOTDIR'
        ? `${path}: it is no folder; name an empty one, or one that is not there yet`
        : `${path}: it can't be made (${code}); name another folder`,
    )
  }
}

async function lockTarget(root: string): Promise<Lock> {
  const { dev, ino, birthtimeMs: birthtime } = await lstat(root)
  try {
    return await lockFolder(root, { dev, ino, birthtime })
  } catch (error) {
    if (!(error instanceof LockedError)) throw error
    throw new LockedError(`${root}: another albumd works in this folder; wait for it, or stop it`)
  }
}

async function begin(root: string, own: string, purpose: Purpose): Promise<void> {
  const mark = join(own, 'restore.json')
  const names = (await readdir(root)).filter(name => !NOT_COUNTED.has(name))
  const before = await readMark(mark)
  if (before === null && names.length > 0)
    throw new NotPossible(
      `${root}: it is not empty; name an empty folder, one that is not there yet, or one where a restore was begun`,
    )
  if (before !== null && before !== JSON.stringify(purpose))
    throw new NotPossible(`${root}: a restore of other mirrors was begun here; name another folder`)
  await makeOwn(root, own)
  // What was not whole when it was cut off.
  for (const name of await readdir(own))
    if (name !== 'restore.json') await rm(join(own, name), { recursive: true, force: true })
  if (before !== null) return
  const temporary = join(own, 'begin')
  const file = await open(temporary, 'wx')
  try {
    await file.writeFile(JSON.stringify(purpose))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, mark)
  await syncFolder(own)
  await syncFolder(dirname(own))
}

async function makeOwn(root: string, own: string): Promise<void> {
  await mkdir(own, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw new NotPossible(`${root}: it can't be written to (${error.code})`)
  })
  if (!(await lstat(own)).isDirectory())
    throw new NotPossible(`${own}: it is no folder; remove it, or restore into another folder`)
}

/** Null where none was begun. */
async function readMark(mark: string): Promise<string | null> {
  try {
    const file = await open(mark, constants.O_RDONLY | constants.O_NOFOLLOW)
    await file.close()
    return await readFile(mark, 'utf8')
  } catch {
    return null
  }
}
