import type { Watching } from '../../daemon/watch/watching.ts'
import { localTime } from '../../words/local-time.ts'
import { count, printable } from './wording.ts'

/** A line of `status` when folders can't be watched, or the watcher has missed changes. */
export function watchingInWords(watching: Watching | null): string[] {
  if (watching === null) return []
  const { lost, reason, remedy, overflowed_at } = watching
  if (lost > 0)
    return [
      `watch   ${count(lost, 'folder')} can't be watched and ${lost === 1 ? 'is' : 'are'} looked at every minute instead: ` +
        printable(`${reason} ${remedy}`),
    ]
  if (overflowed_at === null) return []
  return [
    `watch   so much changed at once that some went untold (${localTime(overflowed_at)}); everything was looked at again`,
  ]
}
