import { resendInDoubt } from '../../../src/daemon/commands/sync.ts'
import type { Tx } from '../../../src/synced/synced.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import { versionOfHash } from '../disk/tree.ts'
import { rowAt } from './state-kit.ts'
import type { World } from './world.ts'

/** Failures that a person's word ends. */
const DOUBTFUL: ReadonlySet<string> = new Set(['AMBIGUOUS', 'STATE_RESTORED'])

/** A person who wants pictures sent again whose upload is in doubt. */
export class Resending {
  readonly #world: World
  /** Raw: which pictures; null: nobody wants anything. */
  #wanted: number | null = null
  /** Pictures that were sent again when all trouble was over. */
  readonly #atLast = new Set<string>()

  constructor(world: World) {
    this.#world = world
  }

  /** Once something is in doubt, and no pass is under way. Whole mirrors are named too. */
  want(a: number): void {
    this.#wanted = a
  }

  forget(): void {
    this.#wanted = null
  }

  /** No pass is under way. */
  inPeace(): void {
    if (this.#wanted === null) return
    const a = this.#wanted
    const { mirrors } = this.#world
    const inDoubt = this.#inDoubt()
    if (a % 4 === 0) this.#resend(mirrors[(a >>> 2) % mirrors.length]!.folder)
    else if (inDoubt.length > 0) this.#resend(inDoubt[(a >>> 2) % inDoubt.length]!)
    if (inDoubt.length > 0) this.#wanted = null
  }

  /** Everything that is in doubt. Answers whether anything was. */
  allAtLast(): boolean {
    const inDoubt = this.#inDoubt()
    for (const path of inDoubt) {
      this.#resend(path)
      this.#atLast.add(path)
    }
    return inDoubt.length > 0
  }

  /** Whether a picture is in doubt for ever: nothing kept it from being sent again. */
  isInVain(path: string): boolean {
    return this.#atLast.has(path) && this.#inDoubt().includes(path)
  }

  /** `path`: of a picture, or of a mirror's folder. */
  #resend(path: string): void {
    const { state, mirrors, machine, oracle } = this.#world
    const { synced } = state
    const isNamed = (at: string) => at === path || at.startsWith(`${path}/`)
    const inDoubt = this.#inDoubt().filter(isNamed)
    for (const at of inDoubt) {
      const row = rowAt(synced, mirrors, at)!
      const open = synced.journal.openOnFile(row)
      // A host may have put the version in doubt into the image of the one before.
      const before = open.length === 0 || row.image === null ? [] : [synced.images.byId(row.image)!]
      oracle.words.say(
        at,
        [...open, ...before].map(({ hash }) => versionOfHash(hash)),
      )
    }
    const commit = async <T>(change: (tx: Tx) => T) => synced.commitNow(change)
    void resendInDoubt({ mirrors }, { ...synced, commit }, path, machine.wall())
    const sent = synced.files.inState('pending').filter(file => synced.resend.has(file))
    for (const at of sent.map(file => this.#pathOf(file)))
      if (isNamed(at) && !oracle.words.about(at))
        oracle.report('resent-on-word', `${at} was not in doubt, and is sent again`)
    this.#world.hear(() => `    a person wants sent again: ${inDoubt.join(', ') || `nothing in ${path}`}`)
  }

  #inDoubt(): string[] {
    const { synced } = this.#world.state
    const failed = synced.files
      .inState('failed')
      .filter(file => DOUBTFUL.has(synced.failures.ofUpload(file)?.code ?? ''))
    return [...synced.files.inState('uncertain'), ...failed].map(file => this.#pathOf(file))
  }

  #pathOf({ folder, name }: FileRow): string {
    const { state, mirrors } = this.#world
    const { synced } = state
    const row = synced.folders.byId(folder)!
    const mirror = mirrors.find(each => synced.mirrors.of(each.folder)?.id === row.mirror)!
    return [mirror.folder, row.path, name].filter(part => part !== '').join('/')
  }
}
