import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TimedRun, timedRun } from '../measure/timed-run.ts'
import { ALONE } from './listings.ts'

/** As many at once as albumd sends. */
const AT_ONCE = '8'

/** One request a picture, from one process: the limit. `list`: a file that may be written. */
export function curl(folder: string, s3: string, list: string): Promise<TimedRun> {
  const lines = readdirSync(folder).map(
    name => `url = "${s3}/bench/${name}"\nupload-file = "${join(folder, name)}"\n`,
  )
  writeFileSync(list, lines.join(''))
  const args = ['--parallel', '--parallel-max', AT_ONCE, '--no-progress-meter', '--fail', '--config', list]
  return timedRun('curl', args)
}

/** Its copy to an S3 bucket, with what it would ask besides switched off. */
export function rcloneCopy(folder: string, s3: string): Promise<TimedRun> {
  const remote = `:s3,provider=Other,endpoint='${s3}',access_key_id=bench,secret_access_key=bench:bench`
  const quick = ['--s3-no-check-bucket', '--s3-no-head', '--s3-disable-http2', '--transfers', AT_ONCE]
  // Whoever works with S3 in earnest may have set what does not fit here.
  const foreign = /^(?:AWS|RCLONE)_/
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
  return timedRun('rclone', [...ALONE, 'copy', ...quick, folder, remote], { env })
}

/** Both steps with the library that albumd sends by, hashed and not written down: what Node takes without a journal. */
export function undiciAlone(folder: string, baseUrl: string): Promise<TimedRun> {
  const program = join(import.meta.dirname, 'undici-child.ts')
  return timedRun(process.execPath, [program, baseUrl, folder, AT_ONCE])
}
