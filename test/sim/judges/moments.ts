import { alterationOf, recordedImage } from '../../../src/daemon/restore/altered.ts'
import { versionsAt } from '../../../src/daemon/restore/from-moment.ts'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { MINUTE_MS } from '../../../src/protocol/clock.ts'
import { isAltering } from '../../../src/sync/delivered/index.ts'
import type { Synced } from '../../../src/synced/synced.ts'
import type { ImageRow } from '../../../src/synced/tables/images.ts'
import { livePictures } from '../disk/live-pictures.ts'
import { realOf } from '../disk/real-picture.ts'
import { versionOfHash } from '../disk/tree.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { type Alteration, altered } from '../host/alterations.ts'

/** What a restore makes of what the host delivers in the place of each picture: the picture where it can be proved, else
 * what albumd's own records tell. */
export async function mustRestore({ history, oracle, state: { synced }, truth }: World): Promise<void> {
  const { alters, delivery } = history.variations
  if (oracle.violation || alters === null || delivery === 'nothing') return
  for (const { id } of synced.mirrors.all())
    for (const { path, image, state } of synced.files.below(id, '')) {
      const row = state === 'synced' && image !== null ? synced.images.byId(image) : undefined
      const remote = row && truth.images.get(row.remote_id)
      if (!remote?.hash || !row || remote.hash !== versionOfHash(row.hash)) continue
      const wrong = await notRestored(synced, row, remote.bytes, alters)
      if (wrong) oracle.report('restores-what-is-delivered', `${path} ${wrong}`)
    }
}

/** What is wrong with what a restore makes of an image; null: nothing. */
async function notRestored(
  synced: Synced,
  row: ImageRow,
  sent: Buffer,
  alters: Alteration,
): Promise<string | null> {
  const delivered = altered(sent, alters)
  const real = realOf(delivered)
  if (real === null || delivered.equals(sent)) return null
  const image = recordedImage(synced, row)
  // Nothing has shown that the host alters such pictures, or another one was delivered as it was sent.
  if (!isAltering(image.delivery)) return null
  const how = (await alterationOf(image, sourceOfBytes(real)))?.how ?? 'not at all'
  const tellsPixels = image.delivery === 'packed anew' || image.data?.includes('"pixels"')
  const isPacked = alters === 'pack' && row.mime === 'image/jpeg' && tellsPixels
  const proved = alters === 'strip' || alters === 'trim' ? 'stripped' : isPacked ? 'packed' : 'encoded'
  const wanted = image.data === null ? 'encoded' : proved
  return how === wanted ? null : `comes back ${how}, and ${wanted} is wanted (${row.mime}, ${image.delivery})`
}

/** A moment at which disk and records agreed: what `restore --at` must bring back. */
interface Noted {
  wall: number
  /** In true time. */
  at: number
  /** By paths, the SHA-256 of what lay there. */
  pictures: Readonly<Record<string, string>>
}

/** Knows how the mirrors were at some moments, and asks the records for each of them at the end. */
export class Moments {
  readonly #world: World
  readonly #noted: Noted[] = []
  /** Since when the wall clock is set as it is, in true time, and by how much it is off. */
  readonly #settings: { from: number; offset: number }[] = []

  constructor(world: World) {
    this.#world = world
    this.clockIsSet()
  }

  get count(): number {
    return this.#noted.length
  }

  clockIsSet(): void {
    const { time, machine } = this.#world
    this.#settings.push({ from: time.now, offset: machine.offset })
  }

  /** A pass has ended. */
  note(): void {
    const { disk, mirrors, state, time, machine } = this.#world
    // Albumd has not looked at the clock since it was set.
    if (Math.abs(machine.wall() - (state.synced.meta.get('running_at') ?? 0)) > MINUTE_MS) return
    const pictures: Record<string, string> = {}
    for (const { path, node } of livePictures(disk, mirrors)) {
      const row = rowAt(state.synced, mirrors, path)
      const image = row?.state === 'synced' && row.image !== null && state.synced.images.byId(row.image)
      // A file that is not what was sent, such as a stripped one, comes back as that.
      if (!image || versionOfHash(image.hash) !== node.hash) return
      pictures[path] = node.hash
    }
    for (const { id, folder } of state.synced.mirrors.all())
      for (const { path, state: of } of state.synced.files.below(id, ''))
        if (of !== 'gone' && of !== 'kept' && pictures[`${folder}/${path}`] === undefined) return
    this.#noted.push({ wall: machine.wall(), at: time.now, pictures })
  }

  /** What was then comes back, no more and no fewer. */
  mustComeBack(): void {
    const { oracle, state, mirrors } = this.#world
    if (oracle.violation || oracle.stateLost) return
    const rows = mirrors.flatMap(({ folder }) => state.synced.mirrors.of(folder) ?? [])
    for (const noted of this.#noted.filter(({ wall }) => this.#cameOnce(wall))) {
      const back = [...versionsAt(state.synced, rows, '', noted.wall)].map(
        ({ mirror, path, version }) => [`${mirror}/${path}` as string, versionOfHash(version.hash)] as const,
      )
      const found = new Map(back)
      const wrong = [...new Set([...found.keys(), ...Object.keys(noted.pictures)])].filter(
        path => found.get(path) !== noted.pictures[path],
      )
      if (wrong.length > 0 || back.length !== found.size)
        oracle.report('moments-come-back', `of ${new Date(noted.wall).toISOString()}: ${wrong.join(', ')}`)
    }
  }

  /** What a clock shows twice, or may show again, means two moments. */
  #cameOnce(wall: number): boolean {
    const showing = this.#settings.filter(({ from, offset }, at) => {
      const to = this.#settings[at + 1]?.from ?? this.#world.time.now
      return from + offset <= wall && wall <= to + offset
    })
    return showing.length === 1 && wall <= this.#world.machine.wall()
  }
}
