import { readFileSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import { lossOf } from '../../local/watch-loss.ts'
import type { Watching } from '../watch/watching.ts'
import { type Finding, pass, warn } from './finding.ts'

/** Of the system's watches, what other programs are left. */
const MOST_OF_ALL = 0.8

/** Whether every folder can have its watch. `folders`: those of all mirrors. `watching`: of a daemon that runs. */
export function checkWatches(
  { watch }: Pick<Config, 'watch'>,
  folders: number,
  watching: Watching | null,
  limit: number | null,
): Finding[] {
  if (watching && watching.lost > 0)
    return [
      warn(
        'watching',
        `folders that can't be watched, and are looked at every minute instead: ${watching.lost.toLocaleString('en')}. ${watching.reason}`,
        watching.remedy,
      ),
    ]
  if (watch.poll !== undefined) return [pass('watching', 'watch.poll is set: folders need no watches')]
  if (limit === null) return [pass('watching', 'this system has no limit of inotify')]
  const said = `every folder needs a watch, ${folders.toLocaleString('en')} in all; fs.inotify.max_user_watches is ${limit.toLocaleString('en')}`
  if (folders <= limit * MOST_OF_ALL) return [pass('watching', said)]
  const { remedy } = lossOf({ code: 'ENOSPC' }, '')
  return [warn('watching', `${said}, for all programs of this user`, remedy)]
}

/** fs.inotify.max_user_watches, or null where there is none. */
export function watchLimit(): number | null {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'))
  } catch {
    return null
  }
}
