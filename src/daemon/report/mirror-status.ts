import type { Millis } from '../../protocol/clock.ts'
import { isPictureName } from '../../protocol/formats.ts'
import { FORMAT_REFUSED, needsPerson } from '../../remote/failures.ts'
import { runningTime } from '../../sync/clock.ts'
import type { MirrorSummary } from '../../synced/summary.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, endsByItself, folderIn, inWords, type Reason } from '../../words/reasons.ts'
import { count, inDigits, isoTime, printable } from '../../words/text.ts'
import { pauseAt } from '../state/pause.ts'
import { claimsInRecords } from './claims.ts'
import { type ShownStep, showStep, stepInWords, type Wait, wait } from './step.ts'
import { accountWaits, goesBySync, imageWaits, timeOf, type WaitContext } from './waits.ts'

/** A mirror in `status --json`. Times are ISO 8601. */
export interface MirrorStatus extends Omit<MirrorSummary, 'oldest_unsynced' | 'pending_since'> {
  folder: string
  album: string
  state: 'idle' | 'scanning' | 'syncing' | 'paused' | 'guarded' | 'blocked'
  /** Why the mirror is in this state; when it is `idle`, the first of `waits`. Null: nothing waits, or the state says all. */
  reason: string | null
  /** What the pictures that are to be uploaded wait for. */
  waits: UploadWait[]
  /** Why passes have left images of `pending_deletions` that were due. The reason of most images comes first. */
  image_waits: ImageWait[]
  /** The whole path of the folder in doubt that `reason` names. Null: it names none. */
  doubt: string | null
  /** Whether a person must end what guards or blocks the mirror. */
  needs_person: boolean
  /** Whether a scan of the mirror has begun. Before the first scan all counts are 0, as for an empty folder. */
  looked_at: boolean
  /** The part of `pending_deletions` that waits for `grace_many`, because so many came together. Null: none of them. */
  many: ManyStatus | null
  /** Pictures that failed while the image of their earlier version is still on the host. */
  failed_with_image: number
  /** The path of the first picture that counts in `gone_on_host`. Null: there is none. */
  first_gone_on_host: string | null
  oldest_unsynced: string | null
}

export interface ManyStatus {
  deletions: number
  /** When the last of these images is deleted, in ISO 8601. Null: not known while no daemon runs. */
  until: string | null
  /** For how many more ms albumd must run until then, where `until` is not known. Null: it is. */
  running_ms: number | null
  /** The folders in which most of the pictures were, below the mirror; '' is the root. */
  folders: { named: string[]; others: number }
  /** Whether the pictures that are gone are so many, without those that were edited. */
  news: boolean
}

/** What pictures wait for. `pictures`: how many wait. Null: all of the mirror, because the whole account waits. */
export interface UploadWait extends ShownStep {
  pictures: number | null
  /** The path of one of the pictures. Null: all pictures of the mirror wait. */
  path: string | null
}

/** Why passes have left images. `images`: how many; `path`: of one of their pictures. */
export interface ImageWait extends ShownStep {
  images: number
  path: string
}

/** How many reasons of single pictures or images are said. The others are counted. */
const REASONS_SAID = 5

export function waitsInWords(waits: readonly (UploadWait | ImageWait)[]): string[] {
  const rest = waits.filter(one => howMany(one) !== null).slice(REASONS_SAID)
  const lines = waits.flatMap(one => (rest.includes(one) ? [] : stepInWords(one, whose(one))))
  if (rest.length === 0) return lines
  const more = rest.reduce((sum, one) => sum + howMany(one)!, 0)
  return [...lines, `and ${inDigits(more)} more for ${count(rest.length, 'other reason')}`]
}

const howMany = (one: UploadWait | ImageWait) => ('images' in one ? one.images : one.pictures)

function whose(one: UploadWait | ImageWait): string {
  if (one.path === null) return ''
  const others = howMany(one)! - 1
  return `${printable(one.path)}${others > 0 ? ` and ${inDigits(others)} more` : ''}`
}

export function mirrorStatus(
  context: WaitContext,
  { folder, album }: { folder: string; album: string },
): MirrorStatus {
  const { synced } = context
  const row = synced.mirrors.of(folder)
  const id = row?.id ?? 0
  const { pending_since, ...summary } = synced.summaries.mirror(id)
  const namesNotUtf8 = synced.summaries.namesOfCode(id, 'NAME_NOT_UTF8')
  const { state, reason, needs_person } = whatItDoes(context, row, summary)
  const waits = pending_since === null ? [] : uploadWaitsOf(context, id, pending_since)
  const [first] = state === 'idle' ? waits : []
  return {
    folder,
    album,
    state,
    reason: first ? stepInWords(first, whose(first)) : reason && inWords(reason),
    waits,
    image_waits: imageWaits(context, id).map(one => {
      return { ...showStep(one), images: one.images, path: one.path }
    }),
    doubt: reason && folderIn(reason),
    needs_person,
    looked_at: row !== undefined,
    ...summary,
    // Files whose names are not UTF-8 can't be recorded, so they are added here. `failed` counts them already.
    files: summary.files + namesNotUtf8.filter(name => isPictureName(name)).length,
    many: row && summary.pending_deletions > 0 ? manyOf(context, row) : null,
    failed_with_image: summary.failed > 0 ? synced.summaries.failedWithImage(id) : 0,
    first_gone_on_host: summary.gone_on_host > 0 ? synced.summaries.firstGone(id) : null,
    oldest_unsynced: isoTime(summary.oldest_unsynced),
  }
}

const FOLDERS_NAMED = 3

function manyOf(context: WaitContext, { id, many_news }: MirrorRow): ManyStatus | null {
  const { escrow } = context.synced
  const { deletions, due_at, until } = escrow.many(id)
  if (deletions === 0) return null
  const folders = escrow.manyIn(id).map(({ folder }) => folder.replace(/\/$/, ''))
  const ends = due_at === 0 ? until : context.running ? timeOf(context, due_at) : null
  return {
    deletions,
    until: isoTime(ends),
    running_ms: ends === null ? due_at - runningTime(context.synced, context) : null,
    folders: { named: folders.slice(0, FOLDERS_NAMED), others: Math.max(0, folders.length - FOLDERS_NAMED) },
    news: many_news === 1,
  }
}

function whatItDoes(
  { config, synced, running, now }: WaitContext,
  row: MirrorRow | undefined,
  {
    pending_uploads,
    pending_deletions,
    uncertain,
  }: Pick<MirrorSummary, 'pending_uploads' | 'pending_deletions' | 'uncertain'>,
): Pick<MirrorStatus, 'state' | 'needs_person'> & { reason: Reason | null } {
  const does = (state: MirrorStatus['state'], reason: Reason | null = null, needs_person = false) => {
    return { state, reason, needs_person }
  }
  if (row?.guard) return does('guarded', row.guard, !endsByItself(row.guard))
  const paused = pauseAt(synced, now)
  if (paused) return does('paused', because('paused_until', paused))
  if (running && row?.phase) return does(row.phase)
  const block = synced.account.blocks().find(({ code }) => code !== FORMAT_REFUSED)
  if (block && pending_uploads + pending_deletions + uncertain > 0)
    return does('blocked', block.message, needsPerson(block.code))
  const doubt = pending_deletions > 0 ? claimsInRecords(config, synced, running).doubt() : null
  return doubt ? does('blocked', doubt) : does('idle')
}

function uploadWaitsOf(context: WaitContext, mirror: number, since: Millis): UploadWait[] {
  const account = accountWaits(context, 'upload', since)
  const own = context.synced.waits.below({ mirror, path: '' })
  return [
    ...account.map(ofAll),
    ...own.map(({ pictures, path, why, until, at }) => ({
      ...showStep(wait(why, until, at)),
      pictures,
      path,
    })),
    ...goesBySync(context, account).map(ofAll),
  ]
}

function ofAll(one: Wait): UploadWait {
  return { ...showStep(one), pictures: null, path: null }
}
