import type { Millis } from '../../protocol/clock.ts'
import { codeOf, commandOf, failureIn, inWords, type Reason, type ReasonCode } from '../../words/reasons.ts'
import { isoTime, localTime, printable } from '../../words/text.ts'

/** What something waits for, as recorded by whoever decides: with account, mirror, folder, picture or image. Or what a
 * person can do. */
export interface Wait {
  why: Reason
  /** Until when, at the earliest. Null: nobody can tell. */
  until: Millis | null
  /** When this was decided. Null: it holds at this moment. */
  asOf: Millis | null
}

export function wait(why: Reason, until: Millis | null = null, asOf: Millis | null = null): Wait {
  return { why, until, asOf }
}

/** A wait as `--json` shows it. */
export interface ShownStep {
  code: ReasonCode
  /** What keeps the picture from the host, by the codes of `status` and `put`. Null: `code` says all. */
  cause: string | null
  what: string
  /** When, at the earliest: ISO 8601. Null: nobody can tell. */
  at: string | null
  /** When a pass decided this: ISO 8601. Null: it holds at this moment. */
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

/** The codes for programs of what keeps pictures from the host. A failure of the host has its own code. */
const CAUSES: { [code in ReasonCode]?: string } = {
  root_in_doubt: 'GUARDED',
  all_paused: 'PAUSED',
  incomplete: 'NOT_READY',
  odd: 'NOT_READY',
  still_written: 'NOT_READY',
  quota_used_up: 'DAILY_LIMIT_REACHED',
}

/** For a person. `whose`: what waits for this; '': all of them, or the one that is meant. */
export function stepInWords(
  { what, at, as_of, command }: Pick<ShownStep, 'what' | 'at' | 'as_of' | 'command'>,
  whose = '',
): string {
  const how = command === null ? '' : `: ${command}`
  const decided = as_of === null ? '' : ` (as of ${localTime(as_of)})`
  return `${whose && `${whose}: `}${printable(what)}${how}${decided}${at === null ? '' : ` — ${localTime(at)}`}`
}
