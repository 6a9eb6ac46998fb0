import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/real-disk.ts'
import { readState, readStatus } from '../report/status.ts'
import { contentStep } from './content-step.ts'
import { explain } from './explain.ts'
import type { Explanation } from './explanation.ts'
import { placesGiven } from './given-place.ts'
import { isUpload } from './next-steps.ts'
import type { PlaceInMirror } from './place.ts'

/**
 * What is known of a path: absolute, below a mirror's folder, or below the working folder. More than one answer where
 * several mirrors know it, none where it lies in no mirror. Reads the state and the disk. `now`: milliseconds since 1970.
 */
export async function explainPath(config: Config, path: string, now: number): Promise<Explanation[]> {
  const status = readStatus(config, now)
  const explained = readState(config, synced => {
    return placesGiven(config, synced, path).map(place => {
      const told = explain({ config, synced, disk: realDisk, status, now }, place)
      return { place, told }
    })
  })
  return Promise.all(explained.map(({ place, told }) => withContent(config, place, told)))
}

/** With what reading it shows, where it is to be sent: that says whether it is. */
async function withContent(config: Config, place: PlaceInMirror, told: Explanation): Promise<Explanation> {
  if (told.file === null || (told.state !== 'pending' && told.state !== 'unseen')) return told
  const step = await contentStep(config, place)
  return step ? { ...told, next: [step, ...told.next.filter(next => !isUpload(next))] } : told
}
