import { statSync } from 'node:fs'
import { keyFileOf } from '../../config/api-key.ts'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'

/** How often the key's file is looked at: a key is changed by a person, who then looks whether it works. */
const EVERY_MS = 5000

/** Tells each time that the file of the API key was changed or replaced, until `stop`. */
export async function watchKeyFile(
  configNow: () => Pick<Config, 'host'>,
  onChange: () => void,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  let file: string | null = null
  let known: string | null = null
  while (!stop.aborted) {
    const before: string | null = file
    file = keyFileOf(configNow(), process.env)
    const found = file === null ? null : markOf(file)
    // A file that is away is about to be replaced: only what is there is worth reading.
    if (file === before && found !== null && found !== known) onChange()
    if (file !== before || found !== null) known = found
    await clock.sleep(EVERY_MS, stop)
  }
}

/** A link is followed: secrets are often replaced by turning one. */
function markOf(file: string): string | null {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file)
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch {
    return null
  }
}
