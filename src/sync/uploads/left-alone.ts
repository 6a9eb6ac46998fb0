import { dirname } from 'node:path/posix'
import type { Disk } from '../../local/disk.ts'
import type { Clock } from '../clock.ts'
import type { FileAges } from '../file-ages.ts'
import type { UploadJob } from './upload-job.ts'

export interface LeftAloneParts {
  disk: Pick<Disk, 'isRemote'>
  clock: Clock
  ages: FileAges
}

/** So far another machine's clock may be behind: until then its stamp does not tell how long a file has been left alone. */
const BEHIND_MS = 300_000

/** For how many milliseconds at least nobody has written to a picture that was stamped at `ctime` (microseconds since 1970). */
export function leftAloneMs(
  { disk, clock, ages }: LeftAloneParts,
  { root, path }: Pick<UploadJob, 'root' | 'path'>,
  ctime: number,
): number {
  const age = ages.since(ctime, clock)
  return age < BEHIND_MS && disk.isRemote(dirname(`${root}/${path}`)) ? 0 : age
}
