import { PictureFileError } from '../../../src/local/open-file.ts'
import { asItLies, type Maker, madeLessThan } from '../../../src/local/sent-picture.ts'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import { askedAnew } from '../../../src/records/pictures.ts'
import { because } from '../../../src/words/reasons.ts'
import { hasNote, withoutNote } from '../disk/tiny-picture.ts'
import { hashOf } from '../disk/tree.ts'
import { Random } from '../histories/random.ts'
import { isMaking } from '../histories/seeds.ts'
import { altered } from '../host/alterations.ts'
import type { TrueImage } from '../host/host-truth.ts'
import { pathOfRow } from './state-kit.ts'
import type { World } from './world.ts'

/** Of these versions nothing can be made. */
const IMPOSSIBLE = (version: number) => version % 13 === 12

/** What takes metadata out of what is sent, while the config says so; and whether that is done. */
export class Stripping {
  readonly #world: World
  /** Since when it is done, in true time. Null: it is not. */
  #since: number | null = null
  #processes = 0
  #isWanted = false
  /** While it is done, which recorded image each picture used as the pass began, by ids; and all that were recorded. */
  #before: { used: ReadonlyMap<string, string>; recorded: ReadonlySet<string> } | null = null
  /** How making goes. Null: it is quick and sure, as at the end of a history. */
  #mood: Random | null = null
  /** The paths whose images a person wants to be sent anew. */
  readonly #asked = new Set<string>()
  /** By path and version, the bytes of the files of which something was made there, as SHA-256 in hex. */
  readonly #madeOf = new Map<string, Set<string>>()

  constructor(world: World) {
    this.#world = world
  }

  /** The config is read again before each pass, and a change ends the process. */
  passBegins(number: number): void {
    const { pauses, seed, setting } = this.#world.history
    const { strips } = setting
    if (!strips) return
    const isOver = number >= pauses.length
    this.#mood = isMaking(seed) && !isOver ? (this.#mood ?? new Random(seed, 21)) : null
    const isDone = number >= strips.from && number < strips.to
    if (isDone !== (this.#since !== null)) {
      this.#world.endProcess()
      this.#since = isDone ? this.#world.time.now : null
    }
    const { truth, state } = this.#world
    const recorded = [...truth.images.values()].flatMap(({ id }) =>
      state.synced.images.byRemoteId(id) ? [id] : [],
    )
    this.#before = isDone ? { used: new Map(this.#used()), recorded: new Set(recorded) } : null
  }

  /** No picture has begun to use a recorded image that is delivered with metadata. */
  passEnds(): void {
    const { life, oracle } = this.#world
    if (!this.#before || !life || life.dead) return
    const { used, recorded } = this.#before
    for (const [path, id] of this.#used())
      if (used.get(path) !== id && recorded.has(id) && this.#hasMetadata(id))
        oracle.report('no-metadata-leave', `${path} uses an image with metadata again`)
  }

  *#used(): Generator<[path: string, id: string]> {
    const { mirrors, files, images } = this.#world.state.synced
    for (const { id, folder } of mirrors.all())
      for (const { path, image } of files.below(id, ''))
        if (image !== null) yield [`${folder}/${path}`, images.byId(image)!.remote_id]
  }

  /** Whether an image is delivered with metadata. Of what a host takes out itself nobody can know whether it was sent. */
  #hasMetadata(id: string): boolean {
    const { truth, host } = this.#world
    const image = truth.images.get(id)
    return image?.gone === null && hasNote(altered(image.bytes, host.variations.alters))
  }

  /** Making takes its time, in which a process may end; the file may be another one by then. */
  async #take(pause: (ms: number) => Promise<void>): Promise<void> {
    await pause(0)
    const mood = this.#mood
    if (!mood?.chance(0.4)) return
    for (let steps = 1 + mood.below(6); steps > 0; steps--) await pause(mood.below(30_000))
    if (mood.chance(0.2)) throw new PictureFileError('CHANGING', because('file_shorter'))
    if (mood.chance(0.1)) {
      this.#world.kill(mood.below(3000))
      await pause(0)
    }
  }

  /** For a process that begins. `pause`: lets the world go on, for so many milliseconds. */
  maker(pause: (ms: number) => Promise<void>): Maker | null {
    if (this.#since === null) return null
    const how = `strip.all.${this.#processes++ % 3}`
    return async open => {
      const { picture } = open
      if (picture === null) return asItLies(open)
      await this.#take(pause)
      const bytes = Buffer.from(await open.source.read(0, open.source.size))
      if (IMPOSSIBLE(bytes.readUInt32LE(8))) return because('strip_too_many')
      if (picture.format === 'svg') return asItLies(open)
      if (!hasNote(bytes)) return { ...asItLies(open), how }
      const made = withoutNote(bytes)
      // A dry run sends nothing.
      const source = this.#world.sources.get(open.chunks)
      const key = `${source?.path} ${hashOf(made)}`
      this.#madeOf.set(key, (this.#madeOf.get(key) ?? new Set()).add(hashOf(bytes)))
      const chunks = async function* () {
        // Throws where the file has changed since it was read.
        for await (const _ of open.chunks());
        yield made
      }
      if (source) this.#world.sources.set(chunks, source)
      return {
        hash: Buffer.from(hashOf(made), 'hex'),
        size: made.length,
        source: sourceOfBytes(made),
        memory: null,
        chunks,
        bare: false,
        picture,
        how,
      }
    }
  }

  /** A person wants the older images sent anew, once no pass is under way. */
  want(_: number): string {
    this.#isWanted = this.#since !== null
    return this.#isWanted ? 'a person wants older images sent anew' : 'nothing'
  }

  inPeace(): void {
    if (!this.#isWanted) return
    this.#isWanted = false
    const { state, machine } = this.#world
    const { synced } = state
    const files = synced.files.madeLess(madeLessThan('all'))
    for (const file of files) this.#asked.add(pathOfRow(synced, file))
    synced.commitNow(tx => askedAnew(tx, files, Math.round(machine.wall())))
  }

  /** The host has stored an image of albumd. */
  stored(image: TrueImage): void {
    if (this.#since !== null && image.askedAt >= this.#since && hasNote(image.bytes))
      this.#world.oracle.report('no-metadata-leave', `${image.source} was sent with its metadata`)
  }

  /** Whether albumd can know that a file has the picture of an image: it has its bytes, or those from which it was made. */
  mayKnow({ source, hash, bytes }: TrueImage, path: string, file: Buffer): boolean {
    const madeOf = this.#madeOf.get(`${source} ${hash}`)
    return source === path || file.equals(bytes) || madeOf?.has(hashOf(file)) === true
  }

  /** No image that is delivered with metadata counts as one without, once its bytes are proved. */
  mustKnow(): void {
    const { oracle, state, history } = this.#world
    if (oracle.violation || !history.setting.strips) return
    for (const { id } of state.synced.mirrors.all())
      for (const { path, image, state: of } of state.synced.files.below(id, '')) {
        const row = of === 'synced' && image !== null ? state.synced.images.byId(image) : undefined
        if (row?.how?.startsWith('strip') && this.#hasMetadata(row.remote_id))
          oracle.report(
            'metadata-are-told',
            `${path} counts as sent without metadata, and is delivered with them`,
          )
      }
  }

  /** Whether both may have been sent of one version: the second for an edit of metadata that are sent, or on a person's word, or
   * because no file uses the first, which has metadata. */
  allowBoth(one: TrueImage, other: TrueImage): boolean {
    const { history, oracle } = this.#world
    const isEdited = history.setting.strips !== undefined || oracle.edited.has(one.source!)
    if (!isEdited || one.bytes.equals(other.bytes)) return false
    // What was asked for first may arrive last.
    const [before, image] = one.askedAt <= other.askedAt ? [one, other] : [other, one]
    const there = this.#world.disk.find(image.source!)?.node
    const isAsSent = there?.kind === 'file' && there.bytes.equals(before.bytes)
    const { images, files } = this.#world.state.synced
    const row = images.byRemoteId(before.id)
    // Where a lost state was made up for by image data alone, the image is recorded with other metadata than it has.
    const isMistaken = row !== undefined && row.hash.toString('hex') !== hashOf(before.bytes)
    const isLeft = row !== undefined && files.onImage(row.id).length === 0
    return !isAsSent || isLeft || isMistaken || this.#asked.has(image.source!)
  }
}
