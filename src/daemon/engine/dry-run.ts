import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import type { LeftOut } from '../../local/look.ts'
import { PictureBuffers } from '../../local/picture-buffers.ts'
import { openPicture } from '../../local/picture-file.ts'
import { openScanPool } from '../../local/scan-pool.ts'
import { systemClock } from '../../protocol/clock.ts'
import { PictureChanged } from '../../remote/host.ts'
import { ALONE } from '../../sync/claims.ts'
import { runningTime } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { closeRead, openDatabase, openDatabaseToRead } from '../../synced/database.ts'
import { stateIsLocked } from '../../synced/lock.ts'
import { explained, StateError } from '../../synced/state-error.ts'
import { openSynced, type Synced } from '../../synced/synced.ts'
import { because, codeOf, commandOf, type Reason, reasonIn } from '../../words/reasons.ts'
import { asJpegUnmade } from '../heic/converter.ts'
import { claimsInRecords } from '../report/claims.ts'
import { usedByOthers } from '../report/machines.ts'
import { quotaStatus, whatBacklogTakes } from '../report/quota-status.ts'
import type { Wait } from '../report/step.ts'
import { deletionWaits } from '../report/waits.ts'
import { stateFiles } from '../state/claim.ts'
import { blocksBefore } from '../state/last-process.ts'
import { pauseAt } from '../state/pause.ts'
import { noteOpening } from '../state/records.ts'
import { refuseOther } from '../state/state.ts'
import { fullPathOf, type Note, type Planned, rehearse, unlikeRecorded } from './rehearsal.ts'
import { heicConverterOf, makerOf, memoryAtStart, settingsOf } from './settings.ts'

/** How many pictures share one transaction. No host waits, so there may be more than in a pass. */
const TOGETHER = 32

export interface DryRunOptions {
  pruneIgnored: boolean
  interruption: Interruption
  say: (planned: Planned) => void
  note: (why: Reason) => void
}

/** Runs the next pass on a copy of the state, with the grace of a running daemon, and asks no host. Throws what `sync` would.
 * Returns what each mirror leaves out. */
export async function dryRun(config: Config, options: DryRunOptions): Promise<LeftOut[]> {
  const { pruneIgnored, interruption, say, note } = options
  const files = stateFiles(config.state_dir)
  const isRunning = stateIsLocked(files.lock)
  const folder = emptyFolder()
  try {
    const synced = await copyOf(files.database, join(folder, 'copy.db'))
    try {
      refuseOther(synced, config)
      const paused = pauseAt(synced, systemClock.wall())
      if (paused) note(because('paused_until', paused))
      if (!isRunning) noteOpening(files, synced)
      const running = runningTime(synced, { now: systemClock.wall(), running: isRunning })
      const used = (ms: number) => usedByOthers(config, synced, systemClock.wall() - ms)
      const others = { used, refused() {}, grantedAgain() {}, granted() {} }
      const isUnlike = unlikeRecorded(synced)
      const buffers = new PictureBuffers()
      const failed = new Set<string>()
      let stopped: Reason | null = null
      const context = {
        ...settingsOf(config, isRunning),
        concurrency: TOGETHER,
        ...memoryAtStart(config, synced),
        synced,
        disk: realDisk,
        clock: systemClock,
        claims: { ...ALONE, ...claimsInRecords(config, synced, isRunning) },
        others: config.account.shared === undefined ? undefined : others,
        running: () => running,
        // The image data are not read, because nothing is delivered in a dry run.
        pictures: { data: async () => null, pixels: async () => null },
        openPicture: (root: string, path: string, cut: AbortSignal) =>
          openPicture(root, path, { changed: () => new PictureChanged(path), cut, buffers, isUnlike }),
        maker: makerOf(config, heicConverterOf(config) && (() => asJpegUnmade)),
        // Scans without threads: a thread takes longer to start than to look at ten thousand files.
        lookAt: (root: string, ended: AbortSignal) => openScanPool(root, ended, { workers: 0 }).look,
      }
      const mirrors = config.mirrors.map(mirror => ({ ...mirror, pruneIgnored }))
      await rehearse(
        context,
        { mirrors, interruption, task: paused ? 'look' : 'mirror' },
        {
          blocks: blocksBefore(synced, config.host.plan, systemClock),
          waitOf: entry =>
            stopOf(deletionWaits({ config, synced, running: isRunning, now: systemClock.wall() }, entry)),
          say(planned) {
            if (planned.operation === 'fail') failed.add(`${planned.mirror}/${planned.path}`)
            say(planned)
          },
          note(emitted) {
            if (emitted.event === 'uploads_stopped') stopped = emitted.message
            else for (const why of beforeUploads(config, synced, emitted)) note(why)
          },
        },
      )
      const ids = synced.mirrors.idsOf(mirrors)
      const { pictures } = synced.files.toSend(ids)
      if (stopped !== null && pictures > 0) note(because('pictures_wait', { pictures, why: stopped }))
      for (const why of notPlanned(synced, failed)) note(why)
      return ids.map(id => synced.summaries.below(id, '').left_out)
    } finally {
      synced.close()
    }
  } catch (error) {
    // An error of the copy is replaced, because it names the copy's path.
    throw error instanceof StateError && error.message.startsWith(folder) ? noCopy(error.code) : error
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function emptyFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'albumd-dry-run-'))
  } catch (error) {
    throw noCopy((error as NodeJS.ErrnoException).code ?? String(error))
  }
}

function noCopy(why: string): StateError {
  const message = `${tmpdir()}: A dry run needs a copy of the state, and can't write it here (${why})`
  return new StateError('NO_COPY', `${message}. Make room there, or set TMPDIR to another folder`)
}

/** Opens a copy of the database. Nobody needs the copy after a power cut, so it is never synced. */
async function copyOf(database: string, copy: string): Promise<Synced> {
  if (existsSync(database)) {
    const db = openDatabaseToRead(database)
    await db
      .backup(copy)
      .catch(error => {
        throw explained(error, WRITING.test(error.code) ? copy : database)
      })
      .finally(() => closeRead(db, database))
  }
  const db = openDatabase(copy)
  try {
    // Without a journal, which would hold each changed page twice. SQLite allows that only in unsafe mode.
    db.unsafeMode()
    db.pragma('journal_mode = OFF')
    db.pragma('locking_mode = EXCLUSIVE')
    db.pragma('synchronous = OFF')
    // A pass is quicker when it reads no page of the copy twice.
    db.pragma('cache_size = -65536')
    return openSynced(db, { schedule: setImmediate, isCopy: true })
  } catch (error) {
    db.close()
    throw explained(error, copy)
  }
}

/** The errors of a backup that come from writing the copy, and not from the database that is read. */
const WRITING = /^SQLITE_(FULL|CANTOPEN|IOERR(?!_READ))/

function stopOf([own, stop]: readonly Wait[]): Wait {
  const isStopped = codeOf(own!.why) === 'goes_next' && stop !== undefined && commandOf(stop.why) === null
  const waits = isStopped ? stop : own!
  return { ...waits, why: reasonIn(waits.why, 'many_go') ?? waits.why }
}

function beforeUploads(
  config: Config,
  synced: Synced,
  { looks_first }: Extract<Note, { event: 'uploads_started' }>,
): Reason[] {
  const { quota, backlog } = quotaStatus(config, synced, systemClock.wall())
  const { images, meta } = synced
  const mayLack = looks_first && (images.latest() === undefined || meta.get('restored') !== null)
  return [mayLack ? because('links_what_is_there') : null, whatBacklogTakes({ quota, backlog })].filter(
    why => why !== null,
  )
}

/** Pictures that the pass leaves as they are although something must be done about them. `failed`: the pictures that it tried. */
function notPlanned(synced: Synced, failed: ReadonlySet<string>): Reason[] {
  const { audit, images, files } = synced
  const before = files.inState('failed').flatMap(file => {
    const full = fullPathOf(synced, file)
    return failed.has(full) ? [] : full
  })
  const gone = audit
    .gone()
    .flatMap(id => images.byRemoteId(id) ?? [])
    .flatMap(({ id }) => files.onImage(id))
    .filter(file => file.state === 'synced' || file.state === 'linked' || files.isToCompare(file))
  const uncertain = files.inState('uncertain')
  return [
    before.length > 0 ? because('failed_before', { pictures: before.length, path: before[0]! }) : null,
    gone.length > 0 ? because('gone_on_host', { pictures: gone.length }) : null,
    uncertain.length > 0 ? because('uncertain_before', { pictures: uncertain.length }) : null,
  ].filter(why => why !== null)
}
