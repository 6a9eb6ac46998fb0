import { constants } from 'node:fs'
import { access, lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { formatOfName } from '../../protocol/formats.ts'

/** A mirror's tree as this user finds it. */
export interface Survey {
  /** With the root itself. */
  folders: number
  pictures: number
  unreadable: { folders: number; pictures: number; first: string | null }
}

/**
 * Looks at every folder of a tree, and whether its pictures may be read; opens none. Hidden folders, symbolic links and
 * empty files are left out as a scan leaves them out; what ignore rules name is not.
 */
export async function surveyFolder(root: string, signal: AbortSignal): Promise<Survey> {
  const survey: Survey = { folders: 0, pictures: 0, unreadable: { folders: 0, pictures: 0, first: null } }
  const open = [root]
  for (let folder = open.pop(); folder !== undefined && !signal.aborted; folder = open.pop()) {
    survey.folders++
    try {
      for await (const entry of await opendir(folder)) {
        if (entry.name.startsWith('.')) continue
        const path = join(folder, entry.name)
        if (entry.isDirectory()) open.push(path)
        else if (entry.isFile() && formatOfName(entry.name)) await lookAtPicture(path, survey)
      }
    } catch (error) {
      if (isGone(error)) continue
      survey.unreadable.folders++
      survey.unreadable.first ??= folder
    }
  }
  return survey
}

async function lookAtPicture(path: string, survey: Survey): Promise<void> {
  try {
    if ((await lstat(path)).size === 0) return
    survey.pictures++
    await access(path, constants.R_OK)
  } catch (error) {
    if (isGone(error)) return
    survey.unreadable.pictures++
    survey.unreadable.first ??= path
  }
}

/** It went while the tree was looked at. */
function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
