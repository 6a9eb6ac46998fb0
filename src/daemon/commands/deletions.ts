import { hash } from 'node:crypto'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { type Millis, systemClock } from '../../protocol/clock.ts'
import { approved, kept, keptAhead } from '../../records/escrow.ts'
import { movedTo } from '../../records/moves.ts'
import { type AddressOf, deliveryAddresses } from '../../sync/listing/index.ts'
import { checkRoot, missingPictures } from '../../sync/scan/index.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { stateIsLocked } from '../../synced/lock.ts'
import type { Synced } from '../../synced/synced.ts'
import type { EscrowRow } from '../../synced/tables/escrow.ts'
import type { FileAtPath } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { because, codeOf, type ReasonCode } from '../../words/reasons.ts'
import { inDigits, isoTime } from '../../words/text.ts'
import { orNull } from '../or-null.ts'
import { keptImages } from '../report/explain.ts'
import { locationsOf, picturesOf, recordedAt } from '../report/mirrored-pictures.ts'
import { type ShownStep, showStep, type Wait, wait } from '../report/step.ts'
import { deletionWaits, waitsForPerson } from '../report/waits.ts'
import { stateFiles } from '../state/claim.ts'
import { type Command, isMeant, NotPossible, refuseSeveral } from './command.ts'

/** `path`: absolute, or below a mirror's folder. Without it all deletions are meant. */
interface DeletionsRequest {
  action: 'approve' | 'discard'
  path?: string | undefined
  /** `setOfImages()` of the deletions that the person has seen, held or waiting as many: the command means those. It refuses when
   * the set is another one by now. */
  seen?: string | undefined
}

export const deletionsCommand: Command<DeletionsRequest, { decided: PendingDeletion[] }> = {
  request: z =>
    z.strictObject({
      action: z.enum(['approve', 'discard']),
      path: z.string().optional(),
      seen: z.string().optional(),
    }),
  async carryOut({ config, synced }, { action, path, seen }) {
    const now = systemClock.wall()
    const list = seen === undefined ? listPending : listToDecide
    const meant = list(config, synced, path, now)
    const isAhead = action === 'discard' && path !== undefined && seen === undefined
    const gone = isAhead ? goneUnnoticed(config, synced, path) : []
    const addressOf = deliveryAddresses(synced)
    const ahead = gone.map(picture => keptNow(picture, now, addressOf))
    const named = [...meant, ...ahead].map(({ mirror }) => mirror)
    if (path !== undefined && named.length === 0)
      throw new NotPossible(
        isKept(config, synced, path)
          ? `Kept on the host for good already: the image at or below ${path}. Delete it at the host to end its address`
          : `No deletion at or below ${path} waits. "albumd deletions list" shows those that do`,
      )
    refuseSeveral(path, named)
    const images = imagesOf(synced, meant)
    if (seen !== undefined && seen !== setOfImages(images))
      throw new NotPossible(
        `Other deletions wait now than you saw: ${inDigits(images.length)}. Look at them again, then ${action}`,
      )
    const decide = action === 'approve' ? approved : kept
    await synced.commit(tx => {
      decide(tx, images, now)
      for (const { folder, name, image } of gone) keptAhead(tx, { folder, name, image: image.id }, now)
    })
    if (action === 'discard') return { decided: [...meant, ...ahead] }
    return { decided: stillPending(config, synced, meant, now) }
  },
}

/** The ids of the images at or below `path` that are held, or that wait because they are many. */
export function imagesToDecide(config: Config, synced: Synced, path: string): number[] {
  return imagesOf(synced, listToDecide(config, synced, path, systemClock.wall()))
}

/** A name for these images, by which a command is refused when others wait than the person has seen. */
export function setOfImages(images: readonly number[]): string {
  return hash('sha256', images.toSorted((one, other) => one - other).join())
}

/** The given deletions that still wait, each as it waits now. */
export function stillPending(
  config: Config,
  synced: Synced,
  deletions: readonly PendingDeletion[],
  now: number,
): PendingDeletion[] {
  const ids = new Set(deletions.map(({ image_id }) => image_id))
  return listPending(config, synced, undefined, now).filter(({ image_id }) => ids.has(image_id))
}

/** The pictures at and below `path` that are gone from the disk and that no scan has missed yet. A discard means their newest
 * image too. There are none where the mirror's root is in doubt, because its pictures may only be away. */
function goneUnnoticed({ mirrors }: Config, synced: Synced, path: string): GonePicture[] {
  return mirrors.flatMap(({ folder: root }) => {
    const row = synced.mirrors.of(root)
    if (!row || !checkRoot(realDisk, synced, row).trusted) return []
    const missing = missingPictures(realDisk, synced, row, at => isMeant(root, at, path))
    return Array.from(missing, file => ({ ...file, root, image: synced.images.byId(file.image)! })).filter(
      ({ image }) => image.kept === 0 && synced.escrow.of(image.id) === undefined,
    )
  })
}

/** Whether an image at or below `path` stays for good: a person kept it, or its mirror keeps all. */
function isKept(config: Config, synced: Synced, path: string): boolean {
  return locationsOf(config, synced, path).some(location => {
    for (const { image } of picturesOf(recordedAt(synced, location)))
      if (image.kept === 1 || location.mirror.deletions === 'keep') return true
    return keptImages(synced, location).length > 0
  })
}

type GonePicture = Omit<FileAtPath, 'image'> & { root: string; image: ImageRow }

function keptNow({ root, path, image }: GonePicture, now: number, addressOf: AddressOf): PendingDeletion {
  return {
    mirror: root,
    path,
    state: 'grace' as const,
    approved: false,
    reason: 'deleted',
    moved_to: null,
    since: isoTime(now),
    goes_at: null,
    next: [],
    size: image.size,
    cdn_url: image.cdn_url ?? addressOf(image.remote_id, image.name),
    image_id: image.remote_id,
  }
}

function imagesOf({ images }: Synced, deletions: readonly PendingDeletion[]): number[] {
  return deletions.map(({ image_id }) => images.byRemoteId(image_id)!.id)
}

/** An image that waits for its deletion, as `deletions --json` shows it. */
export interface PendingDeletion {
  /** held: the image is deleted only after a person has approved it. grace: it is deleted by itself. many: it is deleted by
   * itself after a longer wait, as one of many. */
  state: 'held' | 'many' | 'grace'
  /** ISO 8601. Null: nobody can tell, because the image is held, no daemon runs, or something stops the deletion. */
  goes_at: string | null
  /** What the deletion waits for, as `why` says it. */
  next: ShownStep[]
  /** Whether a person has approved the deletion. Then the image waits for no grace, and is not held. */
  approved: boolean
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  reason: EscrowRow['reason']
  /** Where the same picture lies now: its path below this mirror, or its whole path in another mirror. Null: it has not moved. */
  moved_to: string | null
  /** ISO 8601. */
  since: string
  size: number
  /** Null: not known. */
  cdn_url: string | null
  image_id: string
}

/** The deletions of the config's mirrors that are held or wait because they are many. With `path`, those at and below it. */
function listToDecide(
  config: Config,
  synced: Synced,
  path: string | undefined,
  now: Millis,
): PendingDeletion[] {
  return listed(config, synced, path, ({ id }) => synced.escrow.toDecide(id), now)
}

export function listPending(
  config: Config,
  synced: Synced,
  path: string | undefined,
  now: Millis,
): PendingDeletion[] {
  return listed(config, synced, path, ({ id }) => synced.escrow.ofMirror(id), now)
}

function listed(
  config: Config,
  synced: Synced,
  wanted: string | undefined,
  entriesOf: (mirror: MirrorRow) => EscrowRow[],
  now: number,
): PendingDeletion[] {
  const { mirrors } = config
  const running = stateIsLocked(stateFiles(config.state_dir).lock)
  const context = { config, synced, running, now }
  const addressOf = deliveryAddresses(synced)
  return mirrors.flatMap(({ folder: mirror }) => {
    const row = synced.mirrors.of(mirror)
    if (!row) return []
    const entries = entriesOf(row).filter(({ path }) => isMeant(mirror, path, wanted))
    return entries.map((entry): PendingDeletion => {
      const { path, reason, since, state } = entry
      const image = synced.images.byId(entry.image)!
      const isBack = reason === 'deleted' && orNull(() => realDisk.lstat(fullPath(mirror, path))) !== null
      const next = isBack ? thereAgain(running) : deletionWaits(context, entry)
      const [own] = next
      return {
        mirror,
        path,
        state: waitsForPerson(entry) ? 'held' : entry.many_until === null ? 'grace' : 'many',
        approved: state === 'approved',
        reason,
        moved_to: movedTo(synced, image)?.told ?? null,
        since: isoTime(since),
        goes_at: TIMED.has(codeOf(own!.why)) ? isoTime(own!.until) : null,
        next: next.map(showStep),
        size: image.size,
        cdn_url: image.cdn_url ?? addressOf(image.remote_id, image.name),
        image_id: image.remote_id,
      }
    })
  })
}

/** The reasons that know when the image is deleted. */
const TIMED: ReadonlySet<ReasonCode> = new Set(['grace_runs', 'many_wait'])

/** What happens with the image of a picture that is on the disk again, and that no scan has found there yet. */
function thereAgain(running: boolean): Wait[] {
  const looks = [wait(because('there_again')), wait(because('looked_at_again'))]
  return running ? looks : [...looks, wait(because('run_sync'))]
}
