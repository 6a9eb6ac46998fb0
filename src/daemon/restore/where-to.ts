import { basename } from 'node:path'

/**
 * The folder of each mirror, below the one that is restored into: '' for a single one, else named as the mirror's. Where
 * two have one name, all are named by their whole paths.
 */
export function foldersFor(mirrors: readonly string[]): Map<string, string> {
  if (mirrors.length === 1) return new Map([[mirrors[0]!, '']])
  const short = mirrors.map(folder => basename(folder))
  // Not every disk tells large letters from small ones.
  const differ = new Set(short.map(name => name.normalize('NFC').toLowerCase())).size === short.length
  const isNamed = short.every(name => name !== '')
  return new Map(
    mirrors.map((folder, at) => [folder, differ && isNamed ? short[at]! : folder.replace(/^\/+/, '')]),
  )
}
