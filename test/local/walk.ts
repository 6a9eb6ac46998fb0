import { type Disk, realDisk } from '../../src/local/disk.ts'
import type { IgnoreRules } from '../../src/local/ignore-rules.ts'
import {
  type FolderLook,
  type FolderResult,
  type FolderToLookAt,
  lookAtFolder,
  rulesWithin,
} from '../../src/local/look.ts'

/** The real disk ten seconds from now: whatever a test wrote is then no longer fresh. */
export const laterDisk: Disk = { ...realDisk, now: () => realDisk.now() + 10_000_000 }

export function folderAt(path: string, change: Partial<FolderToLookAt> = {}): FolderToLookAt {
  return { path, rules: [], digest: null, ...change }
}

export function expectLook(result: FolderResult): FolderLook {
  if (result.kind !== 'different') throw new Error(`${result.path} is ${JSON.stringify(result)}`)
  return result.look
}

/** Every folder that is to be looked at, from the root down, each with its look. */
export function walk(disk: Disk, root: string, rules: IgnoreRules[] = []): Map<string, FolderLook> {
  const looks = new Map<string, FolderLook>()
  const open: FolderToLookAt[] = [folderAt('', { rules })]
  for (let folder = open.pop(); folder; folder = open.pop()) {
    const look = expectLook(lookAtFolder(disk, root, folder))
    looks.set(folder.path, look)
    for (const name of look.folders)
      open.push(folderAt(childPath(folder.path, name), { rules: rulesWithin(folder, look.ignoreFile) }))
  }
  return looks
}

export function childPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}
