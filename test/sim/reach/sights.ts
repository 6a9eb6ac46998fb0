import type { PassEvent } from '../../../src/sync/pass-events.ts'
import type { World } from '../engine/world.ts'
import { STATES } from './states.ts'

/** What is seen at one moment of a history, from outside of the engine. It has a name:
 * `told EVENT`: the engine tells something. It is remembered with its variant and its path too, as far as it has them.
 * `does ACTION`: people, the host or the machine do something.
 * `fault ENDPOINT KIND`, `late ENDPOINT`: something goes wrong with a request, a request arrives after its sender gave up.
 * `ends HOW`: the process ends. `crash in WHAT`: and this was under way.
 * `audit`, `pass`: one has come to its end. */
export interface Moment {
  world: World
  /** What the engine told; null where it was something else. */
  event: PassEvent | null
  /** Whether this was seen before in this history. */
  before(what: string): boolean
}

/** A state that must be seen in some histories: what it is looked for at, and what must hold then. */
export interface State {
  at: string
  holds: (moment: Moment) => boolean
}

/** The states by what they are looked for at. */
const LOOKED_FOR = Map.groupBy(Object.entries<State>(STATES), ([, { at }]) => at)

/** What is seen of one machine in one history. */
export class Sights {
  readonly #world: World
  readonly #past = new Set<string>()
  /** The names of the states. */
  readonly seen = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  see(what: string, event: PassEvent | null = null): void {
    const before = (other: string) => this.#past.has(other)
    for (const [name, { holds }] of LOOKED_FOR.get(what) ?? [])
      if (!this.seen.has(name) && holds({ world: this.#world, event, before })) this.seen.add(name)
    this.#past.add(what)
  }

  hear(event: PassEvent): void {
    const name = `told ${event.event}`
    this.see(name, event)
    const { change, code, arrived, mirror, path } = event as Partial<Record<string, string>>
    const variant = change ?? code ?? arrived
    const places = path === undefined ? [] : [` ${mirror}/${path}`]
    for (const place of ['', ...places])
      for (const which of variant === undefined ? [''] : ['', ` ${variant}`])
        this.#past.add(`${name}${which}${place}`)
  }

  /** The process is killed, or the power is cut. */
  crashes(): void {
    const { journal } = this.#world.state.synced
    this.see('ends killed')
    const uploads = journal.openUploads().length
    const albums = journal.newestCreation() === null ? 0 : 1
    if (uploads > 0) this.see('crash in an upload')
    if (albums > 0) this.see('crash in the creation of an album')
    if (journal.open().length > uploads + albums) this.see('crash in a deletion')
  }
}
