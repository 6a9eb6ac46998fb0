import { IGNORE_FILE, isIgnored } from '../disk/live-pictures.ts'
import { split, upwards } from '../disk/tree.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'

/** Of so few looks and changes the last check before a deletion consists. */
const LAST_LOOKS = 12

type Surroundings = Pick<World, 'disk' | 'looks' | 'mirrors' | 'state'>

/** A person's word that the images of what ignore rules hide are to be given up, and what it was said of. */
export class Pruning {
  readonly #world: Surroundings
  readonly #running: () => number
  #asked = false
  /** The pass that runs does it: since when, in running time. */
  #now: number | null = null
  /** By path, the running time from which its grace counts at the earliest. */
  readonly #given = new Map<string, number>()
  /** Of these, those whose records were of gone pictures before it was asked. */
  readonly #goneBefore = new Set<string>()

  constructor(world: Surroundings, running: () => number) {
    this.#world = world
    this.#running = running
  }

  /** For the next pass. */
  ask(): void {
    this.#asked = true
  }

  get isAsked(): boolean {
    return this.#asked
  }

  /** Answers whether the pass is to prune. */
  passBegins(): boolean {
    this.#now = this.#asked ? this.#running() : null
    this.#asked = false
    if (this.#now !== null) this.#give(this.#now)
    return this.#now !== null
  }

  /** A rule may come and go while the pass looks. */
  somethingHappened(): void {
    if (this.#now !== null) this.#give(this.#now)
  }

  /** What shows up again is not given up any more, once albumd knows of it. */
  passEnds(): void {
    const { disk, mirrors, state } = this.#world
    if (this.#now !== null) this.#give(this.#now)
    else
      for (const path of this.#given.keys())
        if (!isIgnored(disk, mirrors, path) && rowAt(state.synced, mirrors, path)?.state !== 'gone')
          this.#given.delete(path)
    this.#now = null
  }

  /** The state is another one: of what was asked for before it may know nothing. */
  forget(): void {
    this.#asked = false
  }

  /** Since when (running time) it is hidden by a rule, as far as the engine can know, and a person asked to prune it. */
  askedAt(path: string): number | undefined {
    const { disk, mirrors } = this.#world
    if (!isIgnored(disk, mirrors, path) && !this.#wasHiddenJustNow(path)) return undefined
    return this.#given.get(path) ?? this.#now ?? undefined
  }

  /** Whether it was hidden when a person asked to prune, and no pass since has ended with it in sight. */
  hasGiven(path: string): boolean {
    return this.#given.has(path)
  }

  /** The last look of all found a rule that was taken back between that and the deletion. */
  #wasHiddenJustNow(path: string): boolean {
    const { disk, looks } = this.#world
    const now = disk.happens()
    for (const folder of upwards(split(path).folder)) {
      const rules = `${folder}/${IGNORE_FILE}`
      const read = looks.readAt(rules)
      if (disk.changedAt(rules) > read && now - read < LAST_LOOKS) return true
    }
    return false
  }

  /** Its picture went, and came back where no scan looks: its grace began when it went. */
  wasGoneBefore(path: string): boolean {
    return this.#goneBefore.has(path)
  }

  /** Whether a rule hides something now. */
  hidesAnything(): boolean {
    const { disk, mirrors } = this.#world
    return mirrors.some(({ folder }) =>
      [...disk.below(folder)].some(([path]) => isIgnored(disk, mirrors, path)),
    )
  }

  #give(since: number): void {
    const { disk, mirrors, state } = this.#world
    for (const { folder } of mirrors)
      for (const [path, node] of disk.below(folder)) {
        if (node.kind === 'folder' || this.#given.has(path) || !isIgnored(disk, mirrors, path)) continue
        this.#given.set(path, since)
        if (rowAt(state.synced, mirrors, path)?.state === 'gone') this.#goneBefore.add(path)
      }
  }
}
