import type { IncomingHttpHeaders } from 'node:http'

/** What an answer says about the pace (§7, "Rate-limit responses"). Null: nothing that can be understood. */
export interface Pace {
  retryAfterMs: number | null
  /** Requests a second. */
  limit: number | null
}

export const NO_PACE: Pace = { retryAfterMs: null, limit: null }

export function paceOf(headers: IncomingHttpHeaders): Pace {
  return {
    retryAfterMs: retryAfter(text(headers['retry-after']), text(headers.date)),
    limit: positive(text(headers['x-ratelimit-limit'])),
  }
}

/** A header that came twice is an array, whatever the type says. */
function text(value: string | string[] | undefined): string {
  return (Array.isArray(value) ? value[0] : value)?.trim() ?? ''
}

/** Seconds or a date (RFC 9110, 10.2.3). A date is compared with the host's own, for clocks differ. */
function retryAfter(value: string, hostDate: string): number | null {
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000
  if (!value.endsWith('GMT')) return null
  const wait = Date.parse(value) - Date.parse(hostDate)
  return Number.isNaN(wait) ? null : Math.max(0, wait)
}

function positive(value: string): number | null {
  return /^[1-9]\d*$/.test(value) ? Number(value) : null
}
