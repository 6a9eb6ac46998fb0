import type { Endpoint } from './endpoints.ts'

/** §1.5: the plans, smallest first. */
export const PLANS = ['free', 'professional', 'flagship'] as const

export type Plan = (typeof PLANS)[number]

/** §8: images a day. */
export const DAILY_QUOTA: Readonly<Record<Plan, number>> = { free: 50, professional: 5000, flagship: 50_000 }

/** §8: requests in any second, counted for each endpoint. Steps 1 and 2 of an upload are counted separately. */
export const REQUESTS_PER_SECOND: Readonly<Record<Endpoint, number>> = {
  upload: 10,
  send: 10,
  list: 10,
  delete: 2,
  create_album: 5,
}

/** §8: how long a credential may be used, in milliseconds. Both steps of an upload must end within this time. */
export const CREDENTIAL_LIFETIME_MS = 10 * 60_000

/** §8: images on a page of a listing. No request can ask for another number. */
export const PER_PAGE = 20

/** §8: characters in an album's name. The client counts UTF-16 units, the larger number; the embedded host code points. */
export const ALBUM_NAME_MAX = 100

/** §8: by how many pixels a declared dimension may differ from the picture's. */
export const DIMENSION_TOLERANCE = 1
