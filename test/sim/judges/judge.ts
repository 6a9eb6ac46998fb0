import type { Truth } from '../host/host-truth.ts'
import type { Facts } from './facts.ts'

export type Report = (invariant: string, what: string) => void

/** Judges by the facts, and reports what must not be. */
export class Judge {
  protected readonly facts: Facts
  protected readonly report: Report

  constructor(facts: Facts, report: Report) {
    this.facts = facts
    this.report = report
  }
}

/** What a person has said, and what albumd can't know. */
export interface Known {
  /** Images whose deletion a person has approved. */
  readonly approved: ReadonlySet<string>
  /** Images that a person has kept, and when, in running time. */
  readonly kept: ReadonlyMap<string, number>
  readonly stateLost: boolean
  albumsMissing: () => boolean
}

/** Judges what becomes of the host's images. */
export class ImageJudge extends Judge {
  protected readonly known: Known
  protected readonly truth: Truth

  constructor(facts: Facts, report: Report, known: Known, truth: Truth) {
    super(facts, report)
    this.known = known
    this.truth = truth
  }
}
