import { EARLY_REMEDY } from '../../daemon/report/quota-status.ts'
import type { Status } from '../../daemon/report/status.ts'
import { localTime } from '../../words/local-time.ts'
import { because, inWords } from '../../words/reasons.ts'
import { count } from './wording.ts'

/** The lines of `status` about the day's quota, and about the pictures that wait for it. */
export function quotaInWords({ quota, backlog }: Pick<Status, 'quota' | 'backlog'>): string[] {
  const { plan, limit, used, exhausted } = quota
  const isKept = quota.only_reserve_left && backlog.pictures > 0
  const kept = isKept ? `, ${inWords(because('rest_is_reserve'))}` : ''
  const ofToday = `${used.toLocaleString('en')} of ${limit.toLocaleString('en')}`
  const lines = [`quota   ${ofToday} today (${plan})${exhausted ? `, ${usedUp(quota)}` : kept}`]
  if (quota.used_up_early)
    lines.push(`        the host said so long before ${limit.toLocaleString('en')}: ${EARLY_REMEDY}`)
  if (backlog.days > 0) lines.push(backlogInWords(backlog))
  return lines
}

function usedUp({ resumes_at, next_probe_at, reset }: Status['quota']): string {
  if (resumes_at === null)
    return `used up${next_probe_at === null ? '' : `; the host is asked again at ${localTime(next_probe_at)}`}`
  const learned = reset.known === 'learned' ? ` (learned in ${count(reset.days, 'day')})` : ''
  return `used up until ${localTime(resumes_at)}${learned}`
}

function backlogInWords({ pictures, days, per_day }: Status['backlog']): string {
  return `backlog ${count(pictures, 'picture')}, about ${count(days, 'day')} at ${per_day.toLocaleString('en')} a day`
}
