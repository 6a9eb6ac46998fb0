import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { UNLIMITED } from '../host/choices.ts'
import { some } from '../pictures.ts'
import { QUICK, type Stage, setStage, sha256 } from './stage.ts'

/** Folder → album of the two mirrors. */
const ALBUMS = { pictures: 'Photos', scans: 'Scans/Old' } as const

/** Two mirrors with one daemon over both, and a folder beside them that is none. */
export async function setTwoMirrors(): Promise<Stage> {
  const stage = await setStage({ host: { requestsPerSecond: UNLIMITED } })
  for (const folder of ['scans', 'beside']) mkdirSync(join(stage.home, folder))
  stage.configure({
    host: { base_url: stage.baseUrl, api_key_file: 'api-key', requests_per_second: QUICK },
    mirrors: Object.entries(ALBUMS).map(([folder, album]) => ({ folder, album })),
    deletions: { grace: '300ms', hold_min: 1_000_000 },
  })
  return stage
}

/** What the host should hold: an image's album path and name → SHA-256 of the file's bytes. */
export function localTrees({ home }: Stage): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const [folder, album] of Object.entries(ALBUMS))
    for (const entry of readdirSync(join(home, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.png') || entry.name.startsWith('.')) continue
      const file = join(entry.parentPath, entry.name)
      tree[album + file.slice(join(home, folder).length)] = sha256(readFileSync(file))
    }
  return tree
}

/**
 * The host's tree in the same shape. Its bytes are fetched only where every path is right: a move is an upload and then
 * a deletion, so that an image may be there twice for a moment.
 */
export async function hostTree(stage: Stage): Promise<Record<string, string> | string[]> {
  const paths = await stage.paths()
  const local = Object.keys(localTrees(stage)).sort()
  return paths.join('\n') === local.join('\n') ? stage.delivered() : paths
}

/** What people and programs do with files below the stage's home. */
export function handsIn({ home }: Stage) {
  const at = (path: string) => join(home, path)
  const folderOf = (path: string) => void mkdirSync(dirname(at(path)), { recursive: true })
  return {
    at,
    write(path: string, bytes: Buffer = some()): Buffer {
      folderOf(path)
      writeFileSync(at(path), bytes)
      return bytes
    },
    move(from: string, to: string) {
      folderOf(to)
      renameSync(at(from), at(to))
    },
    remove: (path: string) => rmSync(at(path), { recursive: true }),
  }
}

export type Hands = ReturnType<typeof handsIn>
