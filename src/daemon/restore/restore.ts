import { basename } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { type Downloads, openDownloads } from '../../remote/download.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileAtPath, FileState } from '../../synced/tables/files.ts'
import { NotPossible } from '../commands/command.ts'
import { type MirroredPicture, MirroredPictures } from '../report/mirrored-pictures.ts'
import { reading } from '../state/state.ts'
import { exactly, fetchPicture, Outages } from './fetch-picture.ts'
import { PlaceFiles, type Wanted } from './place-files.ts'
import type { RestoreEvent, RestoreReport } from './restore-event.ts'
import { FolderStopped, isSafePath, openTarget, PictureProblem } from './target-folder.ts'

/** The most downloads at a time. More would disturb other users of the host, and hardly be faster on one disk. */
export const CONCURRENCY_MAX = 8

export interface RestoreRequest {
  folder: string
  /** The folders of the mirrors to restore. */
  mirrors: readonly string[]
  /** Whether pictures that were deleted from the disk are restored too, while their image is still on the host. */
  deleted: boolean
  /** PEM. Null: the authorities that Node knows. */
  ca: string | null
}

/**
 * Fills an empty folder with the mirrors' pictures from the host, or goes on where an earlier run ended. It needs no API
 * key, and may run beside a daemon. Throws NotPossible, LockedError and StateError.
 */
export function restoreMirrors(
  config: Config,
  { folder, mirrors, deleted, ca }: RestoreRequest,
  tell: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  return reading(config, async synced => {
    refuseNothing(synced, config, mirrors)
    const target = await openTarget(folder, config, mirrors)
    const concurrency = Math.min(CONCURRENCY_MAX, config.uploads.concurrency)
    const downloads = openDownloads({
      baseUrl: config.host.base_url,
      ...(ca !== null && { ca }),
      timeoutMs: config.host.timeout,
    })
    let complete = false
    try {
      const restore = new Restore(synced, downloads, new PlaceFiles(target), deleted, tell)
      const report = await restore.run(foldersFor(mirrors), concurrency, interruption)
      complete = report.missing === 0 && report.stopped === null && !report.interrupted
      return report
    } finally {
      await downloads.close()
      await target.close(complete)
    }
  })
}

/** Throws NotPossible where no mirror has records: an empty folder at the end would look like a success. */
function refuseNothing(synced: Synced, { state_dir }: Config, mirrors: readonly string[]): void {
  const isKnown = mirrors.some(folder => {
    const row = synced.mirrors.of(folder)
    return row !== undefined && synced.files.anyOfMirror(row.id)
  })
  if (!isKnown)
    throw new NotPossible(
      `${state_dir}: nothing is recorded of ${mirrors.join(', ')}, so there is nothing to restore; check state_dir and mirrors[].folder`,
    )
}

/**
 * The folder for each mirror, below the folder that is filled: '' for a single mirror, otherwise the name of the mirror's
 * folder. Where two mirrors have the same name, each gets its whole path.
 */
function foldersFor(mirrors: readonly string[]): Map<string, string> {
  if (mirrors.length === 1) return new Map([[mirrors[0]!, '']])
  const short = mirrors.map(folder => basename(folder))
  // Some disks treat capital and small letters alike.
  const differ = new Set(short.map(name => name.normalize('NFC').toLowerCase())).size === short.length
  const isNamed = short.every(name => name !== '')
  return new Map(
    mirrors.map((folder, at) => [folder, differ && isNamed ? short[at]! : folder.replace(/^\/+/, '')]),
  )
}

/** Files in these states are not expected to have an image. */
const NOT_EXPECTED: ReadonlySet<FileState> = new Set(['gone', 'kept', 'hidden'])

/** A recorded file to restore. `to`: its mirror's folder below the folder that is filled. */
type Due = { mirror: string; file: FileAtPath; to: string }

/** Fetches mirrored pictures into a folder and compares each one's hash. Pictures that are already there stay. */
class Restore {
  readonly #synced: Synced
  readonly #downloads: Downloads
  readonly #files: PlaceFiles
  readonly #withDeleted: boolean
  readonly #tell: (event: RestoreEvent) => void
  readonly #pictures: MirroredPictures
  readonly #report: RestoreReport = {
    restored: 0,
    there: 0,
    bytes: 0,
    older: 0,
    proved: 0,
    missing: 0,
    untried: 0,
    gone: 0,
    stopped: null,
    interrupted: false,
  }
  readonly #outages = new Outages()

  constructor(
    synced: Synced,
    downloads: Downloads,
    files: PlaceFiles,
    withDeleted: boolean,
    tell: (event: RestoreEvent) => void,
  ) {
    this.#synced = synced
    this.#downloads = downloads
    this.#files = files
    this.#withDeleted = withDeleted
    this.#tell = tell
    this.#pictures = new MirroredPictures(synced)
  }

  /** `folders`: for each mirror, the folder for its pictures below the folder that is filled. Throws StateError. */
  async run(
    folders: ReadonlyMap<string, string>,
    concurrency: number,
    interruption: Interruption,
  ): Promise<RestoreReport> {
    this.#tell({ event: 'restore_started', ...this.#totals(folders.keys()) })
    const due = this.#due(folders)
    const work = async () => {
      while (!interruption.stop.aborted && this.#report.stopped === null) {
        const next = due.next()
        if (next.done) return
        await this.#restore(next.value, interruption.cut)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    await this.#untilStopped(() => this.#files.flush())
    this.#countUntried(due)
    this.#report.interrupted = interruption.stop.aborted
    return this.#report
  }

  /** Counts the rest after an early end. Otherwise the few missing pictures would seem to be all that is missing. */
  #countUntried(due: Iterable<Due>): void {
    for (const { mirror, file } of due) {
      if (file.state === 'gone' && !this.#withDeleted) this.#report.gone++
      else if (!NOT_EXPECTED.has(file.state) || this.#pictures.of(mirror, file)) this.#report.untried++
    }
  }

  #totals(mirrors: Iterable<string>): { pictures: number; bytes: number } {
    const synced = this.#synced
    const total = { pictures: 0, bytes: 0 }
    for (const folder of mirrors) {
      const row = synced.mirrors.of(folder)
      if (!row) continue
      const { pictures, bytes } = synced.files.withImage(row.id)
      total.pictures += pictures
      total.bytes += bytes
    }
    return total
  }

  *#due(folders: ReadonlyMap<string, string>): Generator<Due> {
    const synced = this.#synced
    for (const [mirror, to] of folders) {
      const row = synced.mirrors.of(mirror)
      if (row) for (const file of synced.files.below(row.id, '')) yield { mirror, file, to }
    }
  }

  async #restore(due: Due, cut: AbortSignal): Promise<void> {
    const { mirror, file } = due
    if (file.state === 'gone' && !this.#withDeleted) {
      this.#report.gone++
      return
    }
    const picture = this.#pictures.of(mirror, file)
    if (picture) return this.#untilStopped(() => this.#restoreFrom(due, picture, cut), 1)
    if (!NOT_EXPECTED.has(file.state))
      this.#missing(due, new PictureProblem('NOT_ON_HOST', 'it was not uploaded yet'))
  }

  async #restoreFrom(due: Due, picture: MirroredPicture, cut: AbortSignal): Promise<void> {
    const { image } = picture
    const wanted: Wanted = {
      path: pathOf(due.to, due.file.path),
      size: image.size,
      sha256: image.hash,
      // Of the older version only the time of its upload is known.
      mtime: picture.older ? Math.round(image.recorded_at * 1000) : due.file.mtime,
    }
    try {
      if (!isSafePath(wanted.path))
        throw new PictureProblem('UNSAFE_NAME', 'its recorded name leads out of the folder')
      if (await this.#files.isThere(wanted)) this.#done(picture, true)
      else await this.#fetch(picture, wanted, cut)
    } catch (error) {
      if (!(error instanceof PictureProblem)) throw error
      const later = error.code === 'NOT_FOUND' ? this.#replacement(due, picture) : null
      if (later) return this.#restoreFrom(later.due, later.picture, cut)
      this.#missing(due, error, error.code === 'OTHER_BYTES' && picture.state === 'linked')
    }
  }

  async #fetch(picture: MirroredPicture, wanted: Wanted, cut: AbortSignal): Promise<void> {
    if (picture.url === null)
      throw new PictureProblem(
        'NO_ADDRESS',
        'its delivery address is not known, because it was only linked; "albumd adopt --verify" finds it out',
      )
    const begun = await this.#files.begin()
    try {
      if (await fetchPicture(this.#downloads, picture.url, exactly(wanted), begun, cut)) {
        this.#outages.passed()
        await begun.finish(wanted)
        this.#done(picture, false)
      } else this.#report.untried++
    } catch (error) {
      if (error instanceof PictureProblem) this.#report.stopped ??= this.#outages.failed(error)
      throw error
    } finally {
      await begun.close()
    }
  }

  /** The file's new image, where a daemon has replaced the image since its record was read. */
  #replacement(
    { mirror, to, file }: Due,
    before: MirroredPicture,
  ): { due: Due; picture: MirroredPicture } | null {
    const now = this.#synced.files.at(file)
    const due = now && { mirror, to, file: { ...now, path: file.path } }
    const picture = due ? this.#pictures.of(mirror, due.file) : null
    return due && picture && picture.image.remote_id !== before.image.remote_id ? { due, picture } : null
  }

  #done({ mirror, path, image, older, state }: MirroredPicture, there: boolean): void {
    const report = this.#report
    if (there) report.there++
    else {
      report.restored++
      report.bytes += image.size
    }
    if (older) report.older++
    if (state === 'linked') report.proved++
    this.#tell({ event: 'picture_restored', mirror, path, size: image.size, there, older })
  }

  #missing({ mirror, file }: Due, { code, message }: PictureProblem, wasLinked = false): void {
    this.#report.missing++
    const said = wasLinked ? `${message}; it was only linked to that image` : message
    this.#tell({ event: 'picture_missing', mirror, path: file.path, code, message: said })
  }

  /** Ends the restore where the folder can't be filled any further. `untried`: how many pictures `work` was about. */
  async #untilStopped(work: () => Promise<void>, untried = 0): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof FolderStopped)) throw error
      this.#report.stopped ??= error.message
      this.#report.untried += untried
    }
  }
}
