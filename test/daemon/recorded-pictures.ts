import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { loadConfig } from '../../src/config/load-config.ts'
import type { Config } from '../../src/config/schema.ts'
import { stateFiles } from '../../src/daemon/state/claim.ts'
import { realDisk } from '../../src/local/disk.ts'
import { folderAbove, nameOf } from '../../src/sync/tree-path.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { openSynced } from '../../src/synced/synced.ts'
import type { FileState } from '../../src/synced/tables/files.ts'
import type { ImageRow } from '../../src/synced/tables/images.ts'
import { serve } from '../remote/serve.ts'
import { tempFolder } from '../temp-folder.ts'

/** A recorded picture, and what its delivery address answers. */
export interface RecordedPicture {
  path: string
  bytes: string | Buffer
  /** Microseconds since 1970. */
  mtime?: number
  state?: FileState
  /** Null: the picture was never uploaded. */
  image?: { proof?: ImageRow['proof']; cdnUrl?: string | null } | null
  /** Whether the file has changed since its image was uploaded. */
  changed?: boolean
  /** What the delivery address answers in place of the bytes. */
  answer?: Answer
  mirror?: number
}

export type Answer = (response: ServerResponse, bytes: Buffer, request: IncomingMessage) => void

/** A config, a state with records of these pictures, and a server for their delivery addresses. */
export interface Recorded {
  home: string
  config: Config
  configFile: string
  /** The paths of all requests, in order. */
  asked: string[]
  /** What delivery addresses answer. A test may change it while it runs. */
  answers: Map<string, Answer>
  addressOf(path: string): string
}

export const MTIME = 1_600_000_000_123_457

export async function recordPictures(
  pictures: readonly RecordedPicture[],
  {
    mirrors = ['pictures'],
    timeout = '2s',
    config = {},
  }: { mirrors?: readonly string[]; timeout?: string; config?: object } = {},
): Promise<Recorded> {
  const home = tempFolder()
  const asked: string[] = []
  const answers = new Map<string, Answer>()
  const held = new Map<string, Buffer>()
  const origin = await serve((request, response) => {
    const path = decodeURIComponent(request.url!.slice('/i/'.length))
    asked.push(path)
    const bytes = held.get(path)
    if (!bytes) response.writeHead(404).end('no such image')
    else (answers.get(path) ?? whole)(response, bytes, request)
  })
  const configFile = join(home, 'albumd.yaml')
  const written = {
    host: { base_url: `${origin}/api/v1`, timeout },
    mirrors: mirrors.map((folder, at) => ({ folder, album: `Photos ${at}` })),
    state_dir: 'state',
    ...config,
  }
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify(written))
  for (const folder of mirrors) mkdirSync(join(home, folder), { recursive: true })
  const loaded = loadConfig(configFile, {})
  mkdirSync(loaded.state_dir)
  const addressOf = (path: string) => `${origin}/i/${encodeURIComponent(path)}`
  const db = openDatabase(stateFiles(loaded.state_dir).database)
  const synced = openSynced(db)
  synced.commitNow(tx => tx.meta.set('base_url', loaded.host.base_url))
  const rows = loaded.mirrors.map(({ folder, album }) => {
    const { dev, ino, birthtime } = realDisk.lstat(folder)
    return synced.commitNow(tx => {
      const row = tx.mirrors.add(folder, album)
      tx.mirrors.trusted({ id: row.id, dev, ino, birthtime })
      return row
    })
  })
  db.transaction(() => {
    for (const picture of pictures) {
      const bytes = Buffer.from(picture.bytes)
      const { path, mtime = MTIME, state = 'synced', image = {}, changed = false, mirror = 0 } = picture
      held.set(path, bytes)
      if (picture.answer) answers.set(path, picture.answer)
      const hash = createHash('sha256').update(bytes).digest()
      const row =
        image &&
        synced.commitNow(tx =>
          tx.images.put({
            remote_id: `id-${mirror}-${path}`,
            cdn_url: image.cdnUrl === undefined ? addressOf(path) : image.cdnUrl,
            album: null,
            name: nameOf(path),
            hash,
            size: bytes.length,
            mime: 'image/png',
            width: 1,
            height: 1,
            recorded_at: 1_700_000_000_000,
            proof: image.proof ?? 'uploaded',
          }),
        )
      synced.commitNow(tx =>
        tx.files.put({
          folder: tx.folders.add(rows[mirror]!.id, folderAbove(path)).id,
          name: nameOf(path),
          size: bytes.length,
          mtime,
          ctime: 0,
          ino: 0,
          state,
          since: null,
          image: row?.id ?? null,
          hash: changed ? Buffer.alloc(32, 1) : hash,
          flat: 0,
        }),
      )
    }
  })()
  db.close()
  return { home, config: loaded, configFile, asked, answers, addressOf }
}

const whole: Answer = (response, bytes) => void response.writeHead(200).end(bytes)

/** The files of a folder, with hidden files and without links: path → bytes as text, and time in microseconds. */
export function treeOf(folder: string): Record<string, [string, number]> {
  const tree: Record<string, [string, number]> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const mtime = Math.round(statSync(file).mtimeMs * 1000)
    tree[file.slice(folder.length + 1)] = [readFileSync(file, 'utf8'), mtime]
  }
  return tree
}
