import { count } from '../daemon/quantities.ts'
import { type Html, html } from './html.ts'

/** In UTC; the script shows it by the reader's clock. `at`: milliseconds since 1970, or ISO 8601. */
export function time(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** Milliseconds → "3 h", "12 min". Roughly: nobody plans by it. */
export function span(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : count(Math.round(hours / 24), 'day')
}

export function albumInWords(album: string): string {
  return album === '' ? "the host's root" : album
}
