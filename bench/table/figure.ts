/** One line of the table. */
export interface Figure {
  /** The part of the bench that measured it. */
  part: string
  figure: string
  /** As people read them, with the unit. */
  ours: string
  /** With the name of whose it is; empty where nobody is beside us. */
  theirs: string
  /** Ours by theirs; null where there is nothing to divide. */
  ratio: number | null
  /** The least and the greatest ratio of the rounds. */
  spread?: readonly [number, number] | null
  aim: string
  /** Null: no aim was set. */
  met: boolean | null
}
