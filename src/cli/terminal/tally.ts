import type { Status } from '../../daemon/report/status.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import { count } from '../words/wording.ts'

export const ALL_IN_SYNC = 'nothing to do: all in sync'

const ENDS_WAITING: ReadonlySet<SpokenEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
  // The file is gone, or has another version.
  'change_found',
])

/** The counts of what a pass did. */
export class Tally {
  readonly counts = {
    uploaded: 0,
    unchanged: 0,
    linked: 0,
    failed: 0,
    uncertain: 0,
    waiting: 0,
    deleted: 0,
    kept: 0,
    albums_made: 0,
    albums_deleted: 0,
  }
  readonly #field: Partial<Record<SpokenEvent['event'], keyof Tally['counts']>> = {
    picture_uploaded: 'uploaded',
    picture_unchanged: 'unchanged',
    picture_linked: 'linked',
    picture_failed: 'failed',
    picture_uncertain: 'uncertain',
    image_deleted: 'deleted',
    image_kept: 'kept',
    album_created: 'albums_made',
    album_deleted: 'albums_deleted',
  }

  /** Unchanged pictures whose image was found by fetching it. Other unchanged pictures are not mentioned. */
  #compared = 0

  /** The pictures that wait. A set, because each may be tried several times. */
  readonly #waiting = new Set<string>()

  add(told: SpokenEvent): void {
    const field = this.#field[told.event]
    if (field) this.counts[field]++
    if (told.event === 'picture_unchanged' && told.compared) this.#compared++
    if (!('path' in told)) return
    const picture = `${told.mirror}/${told.path}`
    if (told.event === 'picture_waits') this.#waiting.add(picture)
    else if (ENDS_WAITING.has(told.event)) this.#waiting.delete(picture)
    this.counts.waiting = this.#waiting.size
  }

  /** What a person should know about links, or null: they are matched by name and size, and not proved. */
  linksInWords(): string | null {
    const { linked } = this.counts
    if (linked === 0) return null
    return `${count(linked, 'picture')} linked to images that the host held already, by name and size; "albumd adopt --verify" compares the bytes`
  }

  /**
   * The summary: what was done, and what is left, so that a person never reads "nothing to do" when something is left.
   * `notCompared`: how many links could not be compared.
   */
  inWords(status: Pick<Status, 'mirrors'>, stopped: readonly HostFailure[], notCompared = 0): string {
    const { uploaded, linked, deleted, albums_deleted, waiting } = this.counts
    const done = listed([
      [uploaded, `${count(uploaded, 'picture')} uploaded`],
      [this.#compared, `${count(this.#compared, 'picture')} found on the host by the bytes`],
      [linked, `${count(linked, 'picture')} linked`],
      [deleted, `${count(deleted, 'image')} deleted`],
      [albums_deleted, `${count(albums_deleted, 'album')} deleted`],
    ])
    const sum = (
      field: 'pending_uploads' | 'pending_deletions' | 'held_deletions' | 'failed' | 'uncertain',
    ) => status.mirrors.reduce((total, mirror) => total + mirror[field], 0)
    const guarded = status.mirrors.filter(({ state }) => state === 'guarded').length
    const unready = Math.min(waiting, sum('pending_uploads'))
    const left = listed([
      [sum('pending_uploads'), `${sum('pending_uploads')} to upload`],
      [unready, `${unready} of them not ready yet`],
      [sum('failed'), `${sum('failed')} failed`],
      [sum('uncertain'), `${sum('uncertain')} uncertain`],
      [sum('pending_deletions'), `${sum('pending_deletions')} to delete`],
      [sum('held_deletions'), `${sum('held_deletions')} held`],
      [guarded, `${count(guarded, 'mirror')} guarded`],
      [notCompared, `${notCompared} linked and not compared`],
    ])
    if (left) return `${done || 'nothing done'}; left: ${left} (albumd status tells more)`
    if (done) return done
    return stopped.length > 0 ? 'nothing done' : ALL_IN_SYNC
  }
}

function listed(parts: [number, string][]): string {
  return parts
    .filter(([n]) => n > 0)
    .map(([, words]) => words)
    .join(', ')
}
