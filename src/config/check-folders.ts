import { lstatSync, opendirSync, realpathSync, statSync } from 'node:fs'
import { keyText, type Problem, unplaced } from './config-error.ts'
import { holders, overlaps, type Place } from './overlaps.ts'
import { realPathOf } from './real-path.ts'
import type { Config } from './schema.ts'
import { unreadable } from './unreadable.ts'

/** A mirror that can't be as things are on the disk. */
export interface FolderProblem extends Problem {
  code: 'FOLDER_MISSING' | 'FOLDER_UNREADABLE' | 'FOLDER_OVERLAP'
  /** As in the config's mirrors. */
  folder: string
}

/**
 * Looks at the mirrors' folders as they are on the disk now, symbolic links followed: whether each is there and can
 * be read, and whether two of them, or one and state_dir, turn out to overlap.
 */
export function checkFolders(config: Pick<Config, 'mirrors' | 'state_dir'>): FolderProblem[] {
  const problems: FolderProblem[] = []
  const real: Place[] = []
  for (const [index, { folder }] of config.mirrors.entries()) {
    const at = ['mirrors', index, 'folder']
    const fault = faultOf(folder)
    if (fault === null) real.push({ at, path: realpathSync(folder) })
    else
      problems.push({
        ...unplaced(null, keyText(at), `${folder} ${fault.message}`),
        code: fault.code,
        folder,
      })
  }
  for (const { path, message } of [...overlaps(real), ...holders(realPathOf(config.state_dir), real)]) {
    const folder = config.mirrors[Number(path[1])]?.folder ?? ''
    problems.push({
      ...unplaced(null, keyText(path), `${folder} ${message}`),
      code: 'FOLDER_OVERLAP',
      folder,
    })
  }
  return problems
}

function faultOf(folder: string): Pick<FolderProblem, 'code' | 'message'> | null {
  try {
    if (!statSync(folder).isDirectory()) return { code: 'FOLDER_MISSING', message: 'is no folder' }
    // To list it and to look at what it holds are two permissions; access(2) would judge by another user.
    opendirSync(folder).closeSync()
    lstatSync(`${folder}/.`)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return {
        code: 'FOLDER_MISSING',
        message: 'is not there; mount what holds it or bring it back; make it only if it is new',
      }
    return { code: 'FOLDER_UNREADABLE', message: unreadable(code) }
  }
}
