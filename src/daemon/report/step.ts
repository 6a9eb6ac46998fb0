import type { Millis } from '../../protocol/clock.ts'
import { codeOf, commandOf, failureIn, inWords, type Reason, type ReasonCode } from '../../words/reasons.ts'
import { isoTime, localTime, printable } from '../../words/text.ts'

/** What something waits for, as recorded by whoever decided it: for account, mirror, folder, picture or image. Or what a person
 * can do. */
export interface Wait {
  why: Reason
  /** The earliest end of the wait. Null: nobody can tell. */
  until: Millis | null
  /** When this was decided. Null: it is true at this moment. */
  asOf: Millis | null
}

export function wait(why: Reason, until: Millis | null = null, asOf: Millis | null = null): Wait {
  return { why, until, asOf }
}

/** A wait as `--json` shows it. */
export interface ShownStep {
  code: ReasonCode
  /** What keeps the picture from the host, by the codes of `status` and `put`. Null: there is no such code. */
  cause: string | null
  what: string
  /** The earliest end, in ISO 8601. Null: nobody can tell. */
  at: string | null
  /** When a pass decided this, in ISO 8601. Null: it is true at this moment. */
  as_of: string | null
  /** The command that a person can copy into a shell. Null: there is none. */
  command: string | null
}

export function showStep({ why, until, asOf }: Wait): ShownStep {
  return {
    code: codeOf(why),
    cause: CAUSES[codeOf(why)] ?? failureIn(why),
    what: inWords(why),
    at: isoTime(until),
    as_of: isoTime(asOf),
    command: commandOf(why),
  }
}

/** The codes, for programs, of what keeps pictures from the host. A failure of the host has a code of its own. */
const CAUSES: { [code in ReasonCode]?: string } = {
  root_in_doubt: 'GUARDED',
  all_paused: 'PAUSED',
  incomplete: 'NOT_READY',
  odd: 'NOT_READY',
  still_written: 'NOT_READY',
  quota_used_up: 'DAILY_LIMIT_REACHED',
}

/** What joins the end of a wait to its words. A wait of another code is for a try. */
const JOINS: { [code in ReasonCode]?: string } = {
  all_paused: ' before',
  outside_hours: ' until',
  sent_before_loss: ' until',
  looked_for: ' until',
  many_wait: ', until',
  grace_runs: ', at',
  tried_again: ' at',
}

export function joinOf({ code }: Pick<ShownStep, 'code'>): string {
  return JOINS[code] ?? '; next try at'
}

/** A step as a line for a person. `whose`: what waits for it. '': everything, or the thing that the reader means. */
export function stepInWords(step: Omit<ShownStep, 'cause'>, whose = ''): string {
  const { what, at, as_of, command } = step
  const how = command === null ? '' : `: ${command}`
  const decided = as_of === null ? '' : ` (as of ${localTime(as_of)})`
  const end = at === null ? '' : `${joinOf(step)} ${localTime(at)}`
  return `${whose && `${whose}: `}${printable(what)}${decided}${end}${how}`
}
