import { lstatSync, opendirSync, realpathSync, statSync } from 'node:fs'
import { sep } from 'node:path'
import { because, inWords } from '../words/reasons.ts'
import { type KeyPath, keyText, type Problem, unplaced } from './config-error.ts'
import { realPathOf, unreadable } from './paths.ts'
import type { Config } from './schema.ts'
import type { Mistake } from './wording.ts'

/** A key of the config, and the path of a folder or an album that it names. */
export interface NamedPath {
  at: KeyPath
  path: string
}

/** A mistake for each folder or album that is, holds or lies in an earlier one of the list. */
export function overlaps(paths: readonly NamedPath[], separator: string = sep): Mistake[] {
  return paths.flatMap(({ at, path }, index) => {
    for (const earlier of paths.slice(0, index)) {
      const relation = relationOf(path, earlier.path, separator)
      if (relation)
        return { path: at, message: `${relation} ${keyText(earlier.at)}; mirrors may not overlap` }
    }
    return []
  })
}

export function holders(stateDir: string, folders: readonly NamedPath[]): Mistake[] {
  const message = `holds state_dir (${stateDir}); name one outside of it`
  return folders.flatMap(({ at, path }) => {
    const relation = relationOf(path, stateDir, sep)
    return relation === null || relation === 'lies in' ? [] : { path: at, message }
  })
}

function relationOf(one: string, other: string, separator: string) {
  const within = (path: string) => [separator, ...path.split(separator).filter(Boolean)].join(separator)
  const [from, to] = [`${within(one)}${separator}`, `${within(other)}${separator}`]
  if (from === to) return 'is the same as'
  return from.startsWith(to) ? 'lies in' : to.startsWith(from) ? 'holds' : null
}

/** A mirror whose folder is missing, can't be read, or overlaps another folder on the disk. */
export interface FolderProblem extends Problem {
  code: 'FOLDER_MISSING' | 'FOLDER_UNREADABLE' | 'FOLDER_OVERLAP'
  folder: string
}

/** The mirrors whose folder is missing, can't be read, overlaps another or holds state_dir. Links are followed. */
export function checkFolders(config: Pick<Config, 'mirrors' | 'state_dir'>): FolderProblem[] {
  const real: NamedPath[] = []
  const missing = config.mirrors.flatMap(({ folder }, index) => {
    const at = ['mirrors', index, 'folder']
    const fault = faultOf(folder)
    if (fault) return problem(at, folder, fault.code, fault.message)
    real.push({ at, path: realpathSync(folder) })
    return []
  })
  const overlapping = [...overlaps(real), ...holders(realPathOf(config.state_dir), real)]
  return [
    ...missing,
    ...overlapping.map(({ path, message }) => {
      const folder = config.mirrors[Number(path[1])]?.folder ?? ''
      return problem(path, folder, 'FOLDER_OVERLAP', `${folder} ${message}`)
    }),
  ]
}

function problem(at: KeyPath, folder: string, code: FolderProblem['code'], message: string): FolderProblem {
  return { ...unplaced(null, keyText(at), message), code, folder }
}

function faultOf(folder: string): Pick<FolderProblem, 'code' | 'message'> | null {
  try {
    if (!statSync(folder).isDirectory())
      return { code: 'FOLDER_MISSING', message: inWords(because('root_not_a_folder', { folder })) }
    // Opening a folder and looking at its entries need different rights. access(2) would check the real user's.
    opendirSync(folder).closeSync()
    lstatSync(`${folder}/.`)
    return null
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      return { code: 'FOLDER_UNREADABLE', message: `${folder} ${unreadable(code)}` }
    return { code: 'FOLDER_MISSING', message: inWords(because('root_missing', { folder })) }
  }
}
