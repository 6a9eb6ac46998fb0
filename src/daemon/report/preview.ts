import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/real-disk.ts'
import { openScanPool } from '../../local/scan-pool.ts'
import { albumPathOf } from '../../sync/album.ts'
import { systemClock } from '../../sync/clock.ts'
import type { PassEvent, Tell } from '../../sync/pass-events.ts'
import type { Interruption, MirrorPolicy } from '../../sync/pass-request.ts'
import { type ScannedMirror, scanMirrors, VanishedRules } from '../../sync/scan/index.ts'
import { isBelow, pathOf } from '../../sync/tree-path.ts'
import { openDatabase, openDatabaseToRead } from '../../synced/database.ts'
import { explained } from '../../synced/state-error.ts'
import { openSynced, type Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because, codeOf, inWords, type Reason } from '../../words/reasons.ts'
import { stateFiles } from '../state/claim.ts'
import { type Operation, previewDeletions, type SupposedUploads } from './preview-deletions.ts'

/**
 * What `sync` would do now: the operations in the order in which a pass would begin them. The scan is the real scan, recorded
 * in a copy of the state that is thrown away. The host is not asked. `note` is told what the operations can't show.
 */
export async function* previewPass(
  config: Config,
  interruption: Interruption,
  note: (line: string) => void,
): AsyncGenerator<Operation> {
  for await (const planned of plannedOperations(config, interruption, note))
    yield { ...planned, reason: inWords(planned.reason) }
}

async function* plannedOperations(
  config: Config,
  { stop }: Interruption,
  note: (line: string) => void,
): AsyncGenerator<Operation<Reason>> {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-preview-'))
  try {
    const synced = openSynced(openDatabase(await copyOfState(config.state_dir, join(folder, 'copy.db'))))
    try {
      const running = synced.meta.get('running_ms') ?? 0
      const found = new Findings()
      const knowsNothing = synced.audit.albums().length === 0
      const scanned = await scan(synced, config.mirrors, running, found.tell, stop)
      yield* previewUploads(synced, scanned, config.uploads.order, found)
      if (knowsNothing && found.hasUploads())
        note('nothing is recorded yet: what the host holds already is linked, not uploaded')
      if (found.guarded.size === 0)
        yield* previewDeletions(synced, scanned, found.uploadsOf, config.deletions, running)
      for (const [mirror, reason] of found.guarded) yield { operation: 'none', mirror, reason }
    } finally {
      synced.close()
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the scans told, and what would be uploaded. */
class Findings {
  /** Why mirrors are guarded, by their folders. */
  readonly guarded = new Map<string, Reason>()
  readonly #reasons = new Map<string, Reason>()
  readonly #uploads = new Map<string, SupposedUploads>()

  readonly tell = (told: PassEvent): void => {
    if (told.event === 'change_found') this.#reasons.set(`${told.mirror}/${told.path}`, told.reason)
    if (told.event === 'mirror_guarded') this.guarded.set(told.mirror, told.reason)
  }

  reasonFor(mirror: string, path: string): Reason | undefined {
    return this.#reasons.get(`${mirror}/${path}`)
  }

  readonly uploadsOf = (mirror: string): SupposedUploads => {
    const known = this.#uploads.get(mirror)
    if (known) return known
    const none = { added: 0, replaced: [] }
    this.#uploads.set(mirror, none)
    return none
  }

  hasUploads(): boolean {
    return this.#uploads.size > 0
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
      vanishedRules: new VanishedRules(systemClock),
      graceMs: 0,
      running: () => running,
    }
    return await scanMirrors(parts, { mirrors, scopeOf: () => 'everything', interruption: { stop } })
  } finally {
    for (const pool of pools.values()) await pool.close()
  }
}

function* previewUploads(
  synced: Synced,
  scanned: readonly ScannedMirror[],
  order: 'newest' | 'oldest',
  found: Findings,
): Generator<Operation<Reason>> {
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
        yield { operation: 'use_album', mirror, album, reason: because('album_needed_first') }
      }
    const path = pathOf(folder.path, file.name)
    const reason = found.reasonFor(mirror, path) ?? because('not_uploaded')
    const operation = uploadOf(file, reason, policy)
    const uploads = found.uploadsOf(mirror)
    if (file.image === null) uploads.added++
    if (operation === 'replace') uploads.replaced.push(path)
    yield { operation, mirror, path, size: file.size, reason }
  }
}

function uploadOf({ image }: FileRow, reason: Reason, { deletions }: MirrorPolicy) {
  if (image === null) return 'upload'
  if (codeOf(reason) === 'touched') return 'compare'
  return deletions === 'keep' ? 'upload' : 'replace'
}

/** The albums of a path that are not recorded yet. */
function albumsToFind(synced: Synced, path: string[]): string[] {
  let parent: number | null | undefined = null
  return path.flatMap((name, depth) => {
    const known = parent === undefined ? undefined : synced.albums.named(parent, name)
    parent = known?.id
    return known ? [] : [path.slice(0, depth + 1).join('/')]
  })
}
