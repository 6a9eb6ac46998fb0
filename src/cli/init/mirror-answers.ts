import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { checkFolders } from '../../config/cross-checks.ts'
import { defaultStateDir } from '../../config/paths.ts'
import { albumNameOf } from '../../sync/album.ts'
import type { Asker } from './asker.ts'
import { type Draft, faultIn } from './draft.ts'

export interface MirrorOptions {
  folder: string[]
  album: string[]
  deletions: string | undefined
}

/** Asks for the mirrors: folders, albums, and what becomes of images when pictures are deleted. */
export async function agreeOnMirrors(
  asker: Asker,
  { folder: folders, album: albums, deletions }: MirrorOptions,
  draft: Draft,
): Promise<void> {
  const { mirrors } = draft.config
  do {
    const folder = await askForFolder(asker, folders[mirrors.length], draft)
    if (folder === null) break
    const album = await askForAlbum(asker, albums[mirrors.length], folder, draft)
    mirrors.push({ folder, album })
  } while (mirrors.length < folders.length || (asker.person && folders.length === 0))
  const answer = await asker.ask(
    {
      option: 'deletions',
      words:
        'When a picture is deleted or changed here, give up its old image too (propagate: a mirror), or keep it (keep: a backup)?',
      given: deletions,
      fallback: 'propagate',
    },
    word => (['propagate', 'keep'].includes(word) ? null : 'must be propagate or keep'),
  )
  for (const mirror of mirrors) mirror.deletions = answer
}

/** Asks for a mirror; null when the person wants no further mirror. */
async function askForFolder(asker: Asker, given: string | undefined, draft: Draft): Promise<string | null> {
  const { mirrors } = draft.config
  const more = mirrors.length > 0
  const answer = await asker.ask(
    {
      option: 'folder',
      words: more ? 'Another folder' : 'The folder of your pictures',
      given,
      ...(more && { fallback: 'no more' }),
    },
    text => (more && text === 'no more' ? null : faultOfFolder(absolute(text), draft)),
  )
  return more && answer === 'no more' ? null : absolute(answer)
}

function faultOfFolder(folder: string, { file, config }: Draft): string | null {
  const candidate = { folder, album: `${config.mirrors.length}` }
  const mirrors = [...config.mirrors, candidate]
  const fault = faultIn({ file, config: { ...config, mirrors } }, `mirrors[${mirrors.length - 1}].folder`)
  if (fault !== null) return fault
  const state_dir = defaultStateDir({ file, env: process.env }) ?? resolve('/')
  const all = mirrors.map(mirror => ({ ...mirror, deletions: 'propagate' as const, ignore: [] }))
  return checkFolders({ mirrors: all, state_dir }).find(problem => problem.folder === folder)?.message ?? null
}

function askForAlbum(
  asker: Asker,
  given: string | undefined,
  folder: string,
  { file, config }: Draft,
): Promise<string> {
  return asker.ask(
    {
      option: 'album',
      words: 'Its album on the host, slash-separated where it lies in others',
      given,
      fallback: albumNameOf(basename(folder)),
    },
    album => {
      const mirrors = [...config.mirrors, { folder, album }]
      return faultIn({ file, config: { ...config, mirrors } }, `mirrors[${mirrors.length - 1}].album`)
    },
  )
}

function absolute(path: string): string {
  return resolve(path === '~' || path.startsWith('~/') ? `${homedir()}${path.slice(1)}` : path)
}
