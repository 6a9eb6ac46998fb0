import { type TimedRun, timedRun } from '../measure/timed-run.ts'

/** What lists a tree with sizes and times: the least that a look at everything needs. */
export function find(tree: string): Promise<TimedRun> {
  return timedRun('find', [tree, '-printf', '%s %T@ %p\n'], { heard: false })
}

export function rcloneLsf(tree: string): Promise<TimedRun> {
  const args = ['lsf', '--recursive', '--files-only', '--format', 'pst', tree]
  return timedRun('rclone', [...ALONE, ...args], { heard: false })
}

/** Without a config of whoever runs the bench. */
export const ALONE = ['--config', '']

/** A pass from one folder to another, which holds the same. */
export function rcloneSync(from: string, to: string): Promise<TimedRun> {
  return timedRun('rclone', [...ALONE, 'sync', from, to])
}
