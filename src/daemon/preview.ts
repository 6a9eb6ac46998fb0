import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/schema.ts'
import { realDisk } from '../local/real-disk.ts'
import { openScanPool } from '../local/scan-pool.ts'
import { albumPathOf } from '../sync/album-name.ts'
import { systemClock } from '../sync/clock.ts'
import type { Interruption } from '../sync/interruption.ts'
import { scanMirror } from '../sync/mirror-scans.ts'
import type { PassEvent } from '../sync/pass-events.ts'
import { pathOf } from '../sync/tree-path.ts'
import { openDatabase, openDatabaseToRead } from '../synced/database.ts'
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
  | { operation: 'use_album'; mirror: string; album: string; reason: string }
  | { operation: 'none'; mirror: string; reason: string }

/**
 * What a pass would do now. The scan is the real one, recorded in a copy of the state that is thrown away; the host is
 * not asked. Yields operations in the order in which a pass would begin them.
 */
export async function* previewPass(config: Config, interruption: Interruption): AsyncGenerator<Operation> {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-preview-'))
  try {
    const synced = openSynced(openDatabase(await copyOfState(config.state_dir, join(folder, 'copy.db'))))
    try {
      for (const mirror of config.mirrors) yield* previewMirror(synced, mirror, interruption)
    } finally {
      synced.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function copyOfState(stateDir: string, copy: string): Promise<string> {
  const { database } = stateFiles(stateDir)
  if (!existsSync(database)) return copy
  const db = openDatabaseToRead(database)
  try {
    await db.backup(copy)
  } finally {
    db.close()
  }
  return copy
}

async function* previewMirror(
  synced: Synced,
  policy: Config['mirrors'][number],
  { stop }: Interruption,
): AsyncGenerator<Operation> {
  const mirror = policy.folder
  const reasons = new Map<string, string>()
  let guarded: string | null = null
  const tell = (told: PassEvent) => {
    if (told.event === 'change_found') reasons.set(told.path, told.reason)
    if (told.event === 'mirror_guarded') guarded = told.reason
  }
  const pool = openScanPool(mirror)
  try {
    const parts = {
      synced,
      disk: realDisk,
      clock: systemClock,
      tell,
      lookAt: () => pool.look,
      graceMs: 0,
      running: () => 0,
    }
    const scanned = await scanMirror(parts, policy, 'everything', stop)
    if (scanned) {
      yield* previewUploads(synced, scanned.row.id, policy, reasons)
      if (!guarded) yield* previewDeletions(synced, scanned.row.id, mirror, reasons)
    }
    if (guarded) yield { operation: 'none', mirror, reason: guarded }
  } finally {
    await pool.close()
  }
}

function* previewUploads(
  synced: Synced,
  mirrorId: number,
  { folder: mirror, album }: Config['mirrors'][number],
  reasons: Map<string, string>,
): Generator<Operation> {
  const albums = new Set<string>()
  for (const file of synced.files.pending('newest', [mirrorId])) {
    const folder = synced.folders.byId(file.folder)!
    const path = pathOf(folder.path, file.name)
    for (const needed of albumsToFind(synced, albumPathOf(album, folder.path)))
      if (!albums.has(needed)) {
        albums.add(needed)
        yield { operation: 'use_album', mirror, album: needed, reason: 'its first picture needs it' }
      }
    const reason = reasons.get(path) ?? 'not uploaded yet'
    const operation = file.image === null ? 'upload' : reason.startsWith('touched') ? 'compare' : 'replace'
    yield { operation, mirror, path, size: file.size, reason }
  }
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

function* previewDeletions(
  synced: Synced,
  mirrorId: number,
  mirror: string,
  reasons: Map<string, string>,
): Generator<Operation> {
  for (const { image, path, reason, state } of synced.escrow.ofMirror(mirrorId)) {
    const stands = synced.files.onImage(image).some(file => file.state !== 'gone')
    const why = reason === 'superseded' ? 'an older version' : (reasons.get(path) ?? 'gone from the disk')
    if (state !== 'held' && !stands) yield { operation: 'delete', mirror, path, reason: why }
  }
}
