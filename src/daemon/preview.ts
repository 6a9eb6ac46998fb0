import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { realDisk } from '../local/real-disk.ts'
import { openScanPool } from '../local/scan-pool.ts'
import { albumPathOf } from '../sync/album-name.ts'
import { systemClock } from '../sync/clock.ts'
import { type HoldPolicy, weighDeletions } from '../sync/hold.ts'
import type { Interruption } from '../sync/interruption.ts'
import { type MirrorPolicy, type ScannedMirror, scanMirrors } from '../sync/mirror-scans.ts'
import type { PassEvent, Tell } from '../sync/pass-events.ts'
import { isBelow, pathOf } from '../sync/tree-path.ts'
import { openDatabase, openDatabaseToRead } from '../synced/database.ts'
import type { FileRow } from '../synced/files.ts'
import { explained } from '../synced/state-error.ts'
import { openSynced, type Synced } from '../synced/synced.ts'
import { stateFiles } from './state.ts'

/** One thing that the next pass would do, and why. Paths are below the mirror's folder. */
export type Operation =
  | { operation: 'upload'; mirror: string; path: string; size: number; reason: string }
  /** Its old image goes once the new one is there. */
  | { operation: 'replace'; mirror: string; path: string; size: number; reason: string }
  /** Read and hashed; uploaded only if its bytes are new. */
  | { operation: 'compare'; mirror: string; path: string; size: number; reason: string }
  | { operation: 'delete'; mirror: string; path: string; reason: string }
  /** It is to go, and waits for a person's word. */
  | { operation: 'hold'; mirror: string; path: string; reason: string }
  | { operation: 'use_album'; mirror: string; album: string; reason: string }
  | { operation: 'none'; mirror: string; reason: string }

/**
 * What `sync` would do now. The scan is the real one, recorded in a copy of the state that is thrown away; the host is
 * not asked. Yields operations in the order in which a pass would begin them. What a replacement gives up is not
 * weighed: it goes only once the new image is there.
 */
export async function* previewPass(config: Config, { stop }: Interruption): AsyncGenerator<Operation> {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-preview-'))
  try {
    const synced = openSynced(openDatabase(await copyOfState(config.state_dir, join(folder, 'copy.db'))))
    try {
      const running = Number(synced.meta.get('running_ms') ?? 0)
      const found = new Findings()
      const scanned = await scan(synced, config.mirrors, running, found.tell, stop)
      yield* previewUploads(synced, scanned, config.uploads.order, found)
      if (found.guarded.size === 0)
        for (const mirror of scanned)
          yield* previewDeletions(synced, mirror, config.deletions, running, found)
      for (const [mirror, reason] of found.guarded) yield { operation: 'none', mirror, reason }
    } finally {
      synced.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the scans told. */
class Findings {
  /** By mirror. */
  readonly guarded = new Map<string, string>()
  readonly #reasons = new Map<string, string>()

  readonly tell = (told: PassEvent): void => {
    if (told.event === 'change_found') this.#reasons.set(`${told.mirror}/${told.path}`, told.reason)
    if (told.event === 'mirror_guarded') this.guarded.set(told.mirror, told.reason)
  }

  reasonFor(mirror: string, path: string): string | undefined {
    return this.#reasons.get(`${mirror}/${path}`)
  }
}

async function copyOfState(stateDir: string, copy: string): Promise<string> {
  const { database } = stateFiles(stateDir)
  if (!existsSync(database)) return copy
  const db = openDatabaseToRead(database)
  try {
    await db.backup(copy)
  } catch (error) {
    throw explained(error, database)
  } finally {
    db.close()
  }
  return copy
}

async function scan(
  synced: Synced,
  mirrors: readonly MirrorPolicy[],
  running: number,
  tell: Tell,
  stop: AbortSignal,
): Promise<ScannedMirror[]> {
  const pools = new Map(mirrors.map(({ folder }) => [folder, openScanPool(folder)]))
  try {
    const lookAt = (root: string) => pools.get(root)!.look
    const parts = {
      synced,
      disk: realDisk,
      clock: systemClock,
      tell,
      lookAt,
      graceMs: 0,
      running: () => running,
    }
    return await scanMirrors(parts, mirrors, () => 'everything', stop)
  } finally {
    for (const pool of pools.values()) await pool.close()
  }
}

function* previewUploads(
  synced: Synced,
  scanned: readonly ScannedMirror[],
  order: 'newest' | 'oldest',
  found: Findings,
): Generator<Operation> {
  const mirrors = new Map(scanned.map(mirror => [mirror.row.id, mirror]))
  const albums = new Set<string>()
  for (const file of synced.files.pending(order, [...mirrors.keys()])) {
    const folder = synced.folders.byId(file.folder)!
    const { policy, unknown } = mirrors.get(folder.mirror)!
    if (unknown.some(path => folder.path === path || isBelow(folder.path, path))) continue
    const mirror = policy.folder
    for (const album of albumsToFind(synced, albumPathOf(policy.album, folder.path)))
      if (!albums.has(album)) {
        albums.add(album)
        yield { operation: 'use_album', mirror, album, reason: 'its first picture needs it' }
      }
    const path = pathOf(folder.path, file.name)
    const reason = found.reasonFor(mirror, path) ?? 'not uploaded yet'
    yield { operation: uploadOf(file, reason, policy), mirror, path, size: file.size, reason }
  }
}

function uploadOf({ image }: FileRow, reason: string, { deletions }: MirrorPolicy) {
  if (image === null) return 'upload'
  if (reason.startsWith('touched')) return 'compare'
  return deletions === 'keep' ? 'upload' : 'replace'
}

/** The albums of a path that have no record yet. */
function albumsToFind(synced: Synced, path: string[]): string[] {
  let parent: number | null | undefined = null
  return path.flatMap((name, depth) => {
    const known = parent === undefined ? undefined : synced.albums.named(parent, name)
    parent = known?.id
    return known ? [] : [path.slice(0, depth + 1).join('/')]
  })
}

async function* previewDeletions(
  synced: Synced,
  { row, policy }: ScannedMirror,
  hold: HoldPolicy,
  running: number,
  found: Findings,
): AsyncGenerator<Operation> {
  if (policy.deletions === 'keep') return
  const mirror = policy.folder
  await weighDeletions(synced, found.tell, { id: row.id, folder: mirror }, hold, running)
  for (const { image, path, reason, state, due_at } of synced.escrow.ofMirror(row.id)) {
    const stands = synced.files.onImage(image).some(file => file.state !== 'gone')
    const why = { deleted: 'gone from the disk', superseded: 'an older version', ignored: 'ignored' }[reason]
    if (state === 'held' || state === 'unproved') yield { operation: 'hold', mirror, path, reason: why }
    else if (!stands && due_at <= running) yield { operation: 'delete', mirror, path, reason: why }
  }
}
