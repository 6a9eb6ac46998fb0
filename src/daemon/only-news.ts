import type { PassEvent, Tell } from '../sync/pass-events.ts'

/**
 * For a log of months: what ends each pass's uploads again, such as a quota that is used up, is told once, and anew
 * after a picture was uploaded meanwhile.
 */
export function onlyNews(tell: Tell): Tell {
  let stopped: string | null = null
  return (told: PassEvent) => {
    if (told.event === 'picture_uploaded') stopped = null
    if (told.event === 'uploads_stopped') {
      if (told.code === stopped) return
      stopped = told.code
    }
    tell(told)
  }
}
