import { type Mistake, valueAt } from './wording.ts'

/** Keys that earlier versions had, and how albumd works without them. A config that still names one works. */
export const GONE_KEYS: Readonly<Record<string, string>> = {
  'host.regroup': 'a picture that lies outside its album stays there until it changes',
  'deletions.albums': 'images are deleted one by one, and their album once it is empty',
  'deletions.versions': 'all older versions of a picture stay through the grace',
  'host.dimensions':
    'dimensions are declared as stored, and after a refusal the host is asked to compare none',
}

export function takeGoneKeys(config: unknown): Mistake[] {
  return Object.entries(GONE_KEYS).flatMap(([written, instead]) => {
    const path = written.split('.')
    const section = valueAt(config, path.slice(0, -1))
    const key = path.at(-1)!
    if (typeof section !== 'object' || section === null || !Object.hasOwn(section, key)) return []
    delete (section as Record<string, unknown>)[key]
    return { path, message: `this key is gone and does nothing: ${instead}` }
  })
}
