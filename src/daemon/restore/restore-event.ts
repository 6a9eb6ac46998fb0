/** Why a picture could not be had. */
export type MissingCode =
  /** It was never uploaded. */
  | 'NOT_ON_HOST'
  /** Nothing tells where the host delivers it. */
  | 'NO_ADDRESS'
  | 'NOT_FOUND'
  /** What the host delivers is not what is recorded. */
  | 'OTHER_BYTES'
  | 'HOST_ADDRESS'
  | 'HOST_UNREACHABLE'
  | 'HOST_TLS'
  | 'HOST_ANSWER'
  | 'HOST_REDIRECT'
  /** Its recorded path leads out of the folder. */
  | 'UNSAFE_NAME'
  /** Something else has its place. */
  | 'IN_THE_WAY'
  /** The disk does not take it. */
  | 'NOT_WRITTEN'

/** `path`: below the mirror's folder. */
export interface Missing {
  mirror: string
  path: string
  code: MissingCode
  /** A line for a person. */
  message: string
}

/** What a restore tells while it works. Sizes are in bytes. */
export type RestoreEvent =
  | { event: 'restore_started'; pictures: number; bytes: number }
  /** `there`: it was there already, whole. `older`: the picture as it was before its last change. */
  | { event: 'picture_restored'; mirror: string; path: string; size: number; there: boolean; older: boolean }
  | ({ event: 'picture_missing' } & Missing)

/** How a restore came out. */
export interface RestoreReport {
  restored: number
  /** Were there already. */
  there: number
  /** Of those that were fetched. */
  bytes: number
  /** Of both, those that are an older version: what changed since is not on the host. */
  older: number
  /** Of both, those that had only been linked: their bytes are proved now. */
  proved: number
  missing: number
  /** Not come to, where it ended early. */
  untried: number
  /** Gone from the disk, with an image that is still on the host: left out. */
  gone: number
  /** What kept it from going on, in a line; null where it did not stop by itself. */
  stopped: string | null
  interrupted: boolean
}
