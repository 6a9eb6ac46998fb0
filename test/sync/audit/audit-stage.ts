import { type Clock, systemClock } from '../../../src/protocol/clock.ts'
import type { ImageHost } from '../../../src/remote/host.ts'
import { type AuditReport, runAudit } from '../../../src/sync/audit/audit.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import { FileAges } from '../../../src/sync/clock.ts'
import { AlbumContents } from '../../../src/sync/listing/album-contents.ts'
import type { PassEvent } from '../../../src/sync/pass-events.ts'
import { png } from '../../pictures.ts'
import { never } from '../album-stage.ts'
import { type Workshop, workshopWith } from '../workshop.ts'

export const DAY = 24 * 3_600_000

export const partsOf = (
  { synced, events, context }: Workshop,
  host: ImageHost,
  clock: Clock = systemClock,
) => ({
  openPicture: context().openPicture,
  pictures: context().pictures,
  synced,
  host,
  clock,
  claims: ALONE,
  emit: (emitted: PassEvent) => void events.push(emitted),
  ages: new FileAges(synced.meta.get('wall_clock')),
  credentialLifetimeMs: 60_000,
  contents: new AlbumContents(),
})

export function audit(
  workshop: Workshop,
  host: ImageHost = workshop.host,
  clock?: Clock,
): Promise<AuditReport> {
  const parts = { ...partsOf(workshop, host, clock), gapMs: 0, progress: () => {} }
  return runAudit(parts, { stop: never, cut: never })
}

/** Two albums below Photos, one picture each. */
export const withPictures = () =>
  workshopWith({ 'a/1.png': png(3, 2, 10).bytes, 'b/2.png': png(4, 2, 20).bytes })

export const found = ({ synced }: Workshop) =>
  synced.audit
    .findings()
    .map(({ kind, name }) => `${kind} ${name}`)
    .sort()
export const imageOf = ({ synced }: Workshop, name: string) =>
  synced.albums
    .all()
    .flatMap(({ id }) => synced.images.inAlbum(id))
    .find(image => image.name === name)!
export const albumOf = ({ synced }: Workshop, name: string) =>
  synced.albums.all().find(album => album.name === name)!
