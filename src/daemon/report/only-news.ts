import type { PassEvent, Tell } from '../../sync/pass-events.ts'

/** A picture got somewhere. */
const SETTLED: ReadonlySet<PassEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
])

/**
 * For a log of months: what ends each pass's uploads again, such as a quota that is used up, is told once, and anew
 * after a picture was uploaded meanwhile. That the same pictures are to be compared or sent is no news while they all
 * only wait, as one that is half written does.
 */
export function onlyNews(tell: Tell): Tell {
  let stopped: string | null = null
  let pending: string | null = null
  return (told: PassEvent) => {
    if (told.event === 'picture_uploaded') stopped = null
    if (told.event === 'uploads_stopped') {
      if (told.code === stopped) return
      stopped = told.code
    }
    if (SETTLED.has(told.event)) pending = null
    if (told.event === 'uploads_started') {
      const these = `${told.pictures} ${told.bytes}`
      if (these === pending) return
      pending = these
    }
    tell(told)
  }
}
