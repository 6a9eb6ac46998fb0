import { isForPerson } from '../../daemon/notify/health.ts'
import type { UploadWait } from '../../daemon/report/mirror-status.ts'
import { count, inDigits } from '../../words/text.ts'
import type { Facts, Recorded } from '../facts.ts'
import type { UnderWay } from '../under-way.ts'

/** The state of albumd, for the top of the page and for the title of its tab. */
export interface StateInWords {
  needsPerson: boolean
  words: string
  /** When the state ends, ISO 8601. Null: nobody knows. */
  until: string | null
}

export function stateInWords({ recorded, problem, underWay }: Facts): StateInWords {
  const state = (words: string, until: string | null = null, needsPerson = false) => {
    return { words, until, needsPerson }
  }
  if (problem !== null) {
    const words = `Waits for ${problem.code === 'STATE' ? 'its state' : 'the shared store'}`
    return state(words, null, isForPerson(problem))
  }
  if (recorded === null) return state('Begins')
  const { status, alerts } = recorded
  const needed = alerts.filter(isForPerson).length
  if (needed > 0) return state(`${count(needed, 'thing')} ${needed === 1 ? 'needs' : 'need'} you`, null, true)
  if (status.paused !== null) return state('Paused', status.paused.until)
  const many = status.mirrors.find(({ many }) => many?.news)?.many
  if (many) return state('Many pictures are gone: their images wait', many.until)
  if (status.backlog.pictures > 0) return waiting(status, underWay)
  if (status.mirrors.some(({ state }) => state === 'scanning')) return state('Scanning')
  const left = status.mirrors.some(mirror => LEFT.some(what => mirror[what] > 0))
  return state(left ? 'Something is left to do' : 'All in sync')
}

const LEFT = ['pending_deletions', 'failed', 'uncertain', 'linked'] as const

function waiting(status: Recorded['status'], underWay: readonly UnderWay[]): StateInWords {
  const pictures = `${inDigits(status.backlog.pictures)} left`
  const wait = whatWaits(status, underWay)
  if (wait === null) return { needsPerson: false, words: `Syncing, ${pictures}`, until: null }
  const forQuota = wait?.cause === 'DAILY_LIMIT_REACHED' ? ' for quota' : ''
  return { needsPerson: false, words: `Waits${forQuota}, ${pictures}`, until: wait?.at ?? null }
}

/** What pictures wait for while none is sent, the whole account's reasons first. Null: some are sent. Undefined: not known. */
export function whatWaits(
  status: Recorded['status'],
  underWay: readonly UnderWay[],
): UploadWait | null | undefined {
  const waits = status.mirrors.flatMap(mirror => mirror.waits)
  const ofAll = waits.find(({ pictures }) => pictures === null)
  const isSending = isAtWork(status, underWay) && (ofAll === undefined || underWay.length > 0)
  return isSending ? null : (ofAll ?? waits[0])
}

/** Whether pictures are being sent. */
function isAtWork({ mirrors }: Recorded['status'], underWay: readonly UnderWay[]): boolean {
  return underWay.length > 0 || mirrors.some(({ state }) => state === 'syncing')
}
