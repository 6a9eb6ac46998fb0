import { type AuditResult, audit } from '../../../src/daemon/commands/audit.ts'
import { pauseAt } from '../../../src/daemon/state/pause.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import type { Interruption, PassReport } from '../../../src/sync/pass-request.ts'
import { AuditJudge } from '../judges/audit-judge.ts'
import type { World } from './world.ts'

/** What the config says. */
const LISTS_A_SECOND = 10

/** An audit that a person has asked for, as the daemon carries it out between passes. */
export class Auditing {
  readonly #world: World
  #asked: { repair: boolean; givesWay: boolean } | null = null
  #isUnderWay = false
  #othersWait = false
  /** What the last one that came to its end has found; null: none did since one was asked for. */
  last: AuditResult | null = null

  constructor(world: World) {
    this.#world = world
  }

  /** `givesWay`: passes come in between as soon as there is something to do for them. */
  ask(repair: boolean, givesWay: boolean): void {
    this.#asked = { repair, givesWay }
    this.last = null
  }

  forget(): void {
    this.#asked = null
  }

  get isAsked(): boolean {
    return this.#asked !== null
  }

  /** Whether albumd walks albums, or mends, at this moment. */
  get isUnderWay(): boolean {
    return this.#isUnderWay
  }

  /** A person wants something else. */
  makeWay(): void {
    this.#othersWait = true
  }

  /** As much of it as there is time for: what is left is for the time after the next pass. */
  async stretch(
    context: EngineContext,
    interruption: Interruption,
    pass: () => Promise<PassReport>,
  ): Promise<void> {
    const { repair, givesWay } = this.#asked!
    const { machine, disk, oracle, history } = this.#world
    const { synced } = context
    if (synced.audit.albums().length === 0) return this.forget()
    if (repair && pauseAt(synced, machine.wall())) return this.forget()
    const leave = new AbortController()
    this.#isUnderWay = true
    this.#othersWait = false
    const judge = new AuditJudge(this.#world)
    let looked = 0
    const progress = () => {
      const othersWait = this.#othersWait || disk.stale.size > 0
      if (looked++ > 0 && givesWay && othersWait) leave.abort()
    }
    const engine = {
      context,
      pass: async () => {
        this.#isUnderWay = false
        const report = await pass()
        this.#isUnderWay = true
        oracle.repairs.begin(history.hold.hold_min)
        return report
      },
    }
    const config = {
      host: { requests_per_second: { list: LISTS_A_SECOND } },
      deletions: { hold_min: history.hold.hold_min },
    } as Parameters<typeof audit>[0]
    const stop = AbortSignal.any([interruption.stop, leave.signal])
    const result = await audit(config, engine, repair, { ...interruption, stop }, progress)
    this.#isUnderWay = false
    oracle.repairs.end()
    oracle.secrecy.failures(result.stopped)
    if (result.finished) judge.judge(result)
    // Who was interrupted goes on later.
    if (result.finished || result.stopped.length > 0) this.#asked = null
    if (result.finished) this.last = result
    if (result.finished) this.#world.sights.see('audit')
    this.#world.hear(() => `    an audit: ${inWords(result)}`)
  }

  processEnded(): void {
    this.#isUnderWay = false
    this.#world.oracle.repairs.end()
  }
}

function inWords({ finished, complete, findings, withheld }: AuditResult): string {
  const found = findings.map(
    ({ kind, image_id, name, repaired }) =>
      `${kind} ${image_id.slice(0, 6)} (${name}${repaired ? ', mended' : ''})`,
  )
  const end = finished ? (complete ? 'complete' : 'with gaps') : 'not at its end'
  return [end, ...found, ...(withheld > 0 ? [`${withheld} deletions withheld`] : [])].join(', ')
}
