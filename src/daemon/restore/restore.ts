import type { Config } from '../../config/schema.ts'
import type { Restored } from '../../records/images.ts'
import { type Downloads, openDownloads } from '../../remote/download.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import type { Given } from '../../synced/tables/images.ts'
import type { RecordsGap } from '../state/records.ts'
import { fetchPicture } from './fetch-picture.ts'
import { diskProblem, type MissingCode, PictureProblem } from './picture-problem.ts'
import { type Delivered, type Known, PlaceFiles, type Wanted } from './place-files.ts'
import { isSafePath, openTarget, type TargetFolder, type TargetRequest } from './target-folder.ts'

/** What a restore says. Sizes are in bytes. `message`: one line for people. */
export type RestoreEvent =
  /** `bytes`: null when only a listing tells the sizes, which it rounds. */
  | { event: 'restore_started'; pictures: number; bytes: number | null }
  /** `there`: the complete picture was on the disk already. */
  | ({ event: 'picture_restored'; size: number; there: boolean; note: Note | null } & Shown)
  | ({ event: 'picture_missing'; code: MissingCode; message: string } & Shown)
  /** `moved_to`: where the picture lies now, below the folder that is filled, and where it is restored. */
  | ({ event: 'picture_moved'; moved_to: string } & Shown)
  /** The disk can't hold this `path` beside another one, so the image got a path with its id. */
  | ({ event: 'picture_renamed' } & Shown)

/** The mirror and the path below it. `to`: below the folder that is filled. An image that is only listed has no mirror. */
export interface Shown {
  mirror?: string
  path: string
  to: string
}

/** What a person must know about a restored picture. The report counts each note.
 * older: the picture is an older version, because its last change was not uploaded.
 * proved: the image was only linked or listed so far, and now its bytes proved to have the recorded hash.
 * unproved: no record has the image's bytes, so only its size and dimensions are compared with the host's listing. */
export type Note = 'older' | 'proved' | 'unproved'

export interface RestoreReport extends Record<Note, number> {
  restored: number
  /** How many pictures were on the disk already. */
  there: number
  /** The size of all fetched pictures together. */
  bytes: number
  missing: number
  /** How many of the missing pictures no repetition of this restore brings back. */
  hopeless: number
  /** How many pictures are perhaps on the disk, in files or folders that can't be read. They do not count as `missing`. */
  unread: number
  /** How many pictures were not tried, because the restore ended early. */
  untried: number
  /** How many pictures were not restored, because they were deleted from the disk. Their images are still on the host. */
  gone: number
  /** How many pictures were not restored under this name, because their bytes are recorded under another one. */
  moved: number
  /** How many files with other bytes were put aside for the picture. */
  replaced: number
  /** In a mirror: how many pictures are newer than the time of `--at`. They stay. */
  later: number
  /** The time whose pictures were restored. Null without `--at`. */
  at: string | null
  /** Whether `at` is not the time asked for, but that of an interrupted restore, which went on. False without `--at`. */
  went_on: boolean
  /** The earliest time since which the host has given up no picture. Null without `--at`. */
  restorable_since: string | null
  /** The gap in the records in which `at` lies. Null: `at` lies in no gap. */
  gap: RecordsGap | null
  /** Whether the records are an older copy or made anew: the counts lack what they do not know. False with `--from-host`. */
  state_is_older: boolean
  /** How many unrecorded images the last audit found on the host. They are in none of these counts. */
  unrecorded: number
  /** How many pictures come without their metadata. */
  stripped: number
  /** How many of the `stripped` pictures may lie on their side, because only the metadata said how to turn them. */
  turned: number
  /** How many pictures the host has packed anew. Their pixels are the same, as far as these were recorded. */
  packed: number
  /** How many pictures the host has encoded anew: they are not the originals. */
  encoded: number
  /** Why some altered pictures could not be recorded, so that they would be sent again. Null: all are recorded. */
  not_recorded: string | null
  /** Why the restore stopped by itself, in one line. Null: it did not. */
  stopped: string | null
  /** Whether a person stopped the restore before each picture was tried. */
  interrupted: boolean
  /** In a mirror: whether the restore has not ended. Until it has, no image of a picture that is missing there is deleted. */
  mirror_waits: boolean
}

export interface Picture extends Wanted {
  /** Null: not known. */
  url: string | null
  note: Note | null
  /** The newer image of the picture, which a daemon has uploaded since the record was read. Null: there is none. */
  replacement?(): Due | null
}

export interface Due {
  shown: Shown
  /** Null: the host does not hold the picture. */
  picture: Picture | null
  /** Why the host does not hold the picture, where that says more than the source's `noImage`. */
  noImage?: Source['noImage']
  /** The picture was deleted from the disk, and is left out. `movedTo`: where its bytes lie now, below the folder that is filled. Null: nowhere. */
  gone?: { movedTo: string | null }
}

export interface Source {
  pictures: number
  bytes: number | null
  due(): IterableIterator<Due>
  noAddress: string
  noImage: { code: MissingCode; message: string }
  /** Why the source may not know all pictures, for example because the listing kept changing. Null: it does. */
  doubt: string | null
}

/** The most downloads at once. More would slow down others, and one disk would hardly be faster. */
const CONCURRENCY_MAX = 8

/** Records bytes that are about to be written and that the host was not sent, so that they are not sent again as new pictures. */
export type RecordGiven = (restored: readonly Restored[]) => Promise<void>

/** Fills an empty folder with what a source names, or goes on with that. `ca`: PEM, or null. Throws NotPossible, LockedError,
 * StateError, and what `openSource` throws. */
export async function fillFolder(
  config: Config,
  { ca, recordGiven, ...request }: TargetRequest & { ca: string | null; recordGiven: RecordGiven },
  openSource: (target: TargetFolder) => Source | Promise<Source>,
  emit: (event: RestoreEvent) => void,
  interruption: Interruption,
): Promise<RestoreReport> {
  const target = await openTarget(config, request)
  const downloads = openDownloads({
    baseUrl: config.host.base_url,
    ...(ca !== null && { ca }),
    timeoutMs: config.host.timeout,
  })
  let isComplete = false
  let report: RestoreReport | null = null
  try {
    const restore = new Restore(
      await openSource(target),
      downloads,
      new PlaceFiles(target),
      emit,
      recordGiven,
    )
    report = await restore.run(Math.min(CONCURRENCY_MAX, config.uploads.concurrency), interruption)
    isComplete =
      report.missing - restore.lost + report.unread === 0 && report.stopped === null && !report.interrupted
    return report
  } finally {
    await downloads.close()
    const isLeft = await target.close(isComplete)
    if (report) report.mirror_waits = isLeft && target.aside !== null
  }
}

/** The problems that another try does not end. */
const HOPELESS: ReadonlySet<MissingCode> = new Set(['UPLOAD_FAILED', 'UNSAFE_NAME', 'NOT_FOUND'])

/** After how many failures of the host or the network in a row a restore stops. */
const OUTAGES_MAX = 10

/** Fetches pictures into a folder, and compares each with what is known of it. Pictures that are there already stay. */
class Restore {
  readonly #source: Source
  readonly #downloads: Downloads
  readonly #files: PlaceFiles
  readonly #emit: (event: RestoreEvent) => void
  readonly #recordGiven: RecordGiven
  /** What the next commit records. That commit begins when the one before has ended, and takes all that came until then. */
  #next: { restored: Restored[]; recorded: Promise<void> } | null = null
  #recording: Promise<unknown> = Promise.resolve()
  readonly #report: RestoreReport = {
    restored: 0,
    there: 0,
    bytes: 0,
    older: 0,
    proved: 0,
    unproved: 0,
    missing: 0,
    hopeless: 0,
    unread: 0,
    untried: 0,
    gone: 0,
    moved: 0,
    replaced: 0,
    later: 0,
    at: null,
    went_on: false,
    restorable_since: null,
    gap: null,
    state_is_older: false,
    unrecorded: 0,
    stripped: 0,
    turned: 0,
    packed: 0,
    encoded: 0,
    not_recorded: null,
    stopped: null,
    interrupted: false,
    mirror_waits: false,
  }
  #outagesInARow = 0
  /** How many missing pictures no later run can bring back. After a 404 the host may still answer otherwise later. */
  lost = 0

  constructor(
    source: Source,
    downloads: Downloads,
    files: PlaceFiles,
    emit: (event: RestoreEvent) => void,
    recordGiven: RecordGiven,
  ) {
    this.#source = source
    this.#downloads = downloads
    this.#files = files
    this.#emit = emit
    this.#recordGiven = recordGiven
  }

  async run(concurrency: number, { stop, cut }: Interruption): Promise<RestoreReport> {
    const report = this.#report
    const { pictures, bytes, doubt } = this.#source
    this.#emit({ event: 'restore_started', pictures, bytes })
    const due = this.#source.due()
    const work = async () => {
      while (!stop.aborted && report.stopped === null) {
        const next = due.next()
        if (next.done) return
        if (!this.#isLeftOut(next.value)) await this.#restore(next.value, cut)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    await this.#files.flush().catch(error => {
      report.stopped ??= diskProblem(error, this.#files.root).message
    })
    // Untried pictures are counted. Otherwise the report would seem to name all that are missing.
    for (const left of due) if (!this.#isLeftOut(left)) report.untried++
    report.interrupted = stop.aborted && report.untried > 0
    report.stopped ??= doubt
    return report
  }

  #isLeftOut({ shown, gone }: Due): boolean {
    if (!gone) return false
    if (gone.movedTo === null) this.#report.gone++
    else {
      this.#report.moved++
      this.#emit({ event: 'picture_moved', ...shown, moved_to: gone.movedTo })
    }
    return true
  }

  /** Restores a picture. `first`: what was wrong with the image that was tried first. */
  async #restore({ shown, picture, noImage }: Due, cut: AbortSignal, first?: PictureProblem): Promise<void> {
    try {
      if (picture === null) {
        const { code, message } = noImage ?? this.#source.noImage
        throw new PictureProblem(code, message)
      }
      await this.#place(shown, picture, cut)
    } catch (error) {
      const problem = this.#refused(error)
      if (problem === null) {
        this.#report.untried++
        return
      }
      const later = problem.code === 'NOT_FOUND' ? (picture?.replacement?.() ?? null) : null
      if (later !== null) return this.#restore(later, cut, first ?? problem)
      const { code, message } = first ?? problem
      this.#report[code === 'NOT_READ' ? 'unread' : 'missing']++
      if (HOPELESS.has(code)) this.#report.hopeless++
      if (code === 'UNSAFE_NAME' || (code === 'NOT_FOUND' && picture === null)) this.lost++
      this.#emit({ event: 'picture_missing', ...shown, code, message })
    }
  }

  async #place(shown: Shown, picture: Picture, cut: AbortSignal): Promise<void> {
    if (!isSafePath(picture.to)) throw new PictureProblem('UNSAFE_NAME', 'the name leads out of the folder')
    const there = await this.#files.there(picture)
    if (there !== null) return this.#done(shown, picture, there, true)
    const { url, known } = picture
    if (url === null) throw new PictureProblem('NO_ADDRESS', this.#source.noAddress)
    const begun = await this.#files.begin()
    try {
      const fetched = await fetchPicture(this.#downloads, url, known, begun, cut).catch(error => {
        if (error instanceof PictureProblem) this.#count(error)
        throw error
      })
      if (fetched === null) {
        this.#report.untried++
        return
      }
      this.#outagesInARow = 0
      await this.#given(known, fetched)
      if (await this.#files.finish(begun, picture)) this.#report.replaced++
      this.#done(shown, picture, fetched, false)
    } finally {
      await begun.close()
    }
  }

  /** Records unknown bytes before they are written. A picture whose bytes can't be recorded is restored all the same. */
  async #given(known: Known, given: Given): Promise<void> {
    const image = 'listed' in known ? null : known.image
    if (given.how === null || !image || image.bytes.includes(given)) return
    this.#next ??= this.#recordNext()
    this.#next.restored.push({ remote_id: image.remote_id, ...given })
    try {
      if (this.#report.not_recorded === null) await this.#next.recorded
    } catch (error) {
      this.#report.not_recorded ??= (error as Error).message
    }
  }

  #recordNext() {
    const restored: Restored[] = []
    const recorded = this.#recording.then(() => {
      this.#next = null
      return this.#recordGiven(restored)
    })
    this.#recording = recorded.catch(() => {})
    return { restored, recorded }
  }

  #done(shown: Shown, { note }: Picture, { size, how, turned }: Delivered, there: boolean): void {
    const report = this.#report
    if (how !== null) report[how]++
    report.turned += turned
    if (there) report.there++
    else {
      report.restored++
      report.bytes += size
    }
    if (note !== null) report[note]++
    this.#emit({ event: 'picture_restored', ...shown, size, there, note })
  }

  /** Counts the failures in a row. After too many it ends the restore, because the next pictures would fail too. */
  #count({ isOutage, message }: PictureProblem): void {
    this.#outagesInARow = isOutage ? this.#outagesInARow + 1 : 0
    if (this.#outagesInARow >= OUTAGES_MAX)
      this.#report.stopped ??= `${message}. The same command goes on where this one was`
  }

  /** The error as a problem of one picture. Null: the disk refuses all pictures, so the restore stops. */
  #refused(error: unknown): PictureProblem | null {
    const problem = diskProblem(error, this.#files.root)
    if (problem instanceof PictureProblem) return problem
    this.#report.stopped ??= problem.message
    return null
  }
}
