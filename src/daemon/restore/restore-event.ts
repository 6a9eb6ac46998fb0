/** Why a picture could not be restored. */
export type MissingCode =
  /** It was never uploaded. */
  | 'NOT_ON_HOST'
  /** The address from which the host delivers it is not known. */
  | 'NO_ADDRESS'
  | 'NOT_FOUND'
  /** The host delivers other bytes than the recorded ones. */
  | 'OTHER_BYTES'
  | 'HOST_ADDRESS'
  | 'HOST_UNREACHABLE'
  | 'HOST_TLS'
  | 'HOST_ANSWER'
  | 'HOST_REDIRECT'
  /** Its recorded path leads out of the folder that is filled. */
  | 'UNSAFE_NAME'
  /** Something else is at its path. */
  | 'IN_THE_WAY'
  /** The disk refuses it. */
  | 'NOT_WRITTEN'

/** The events of a restore. Paths are below the mirror's folder, sizes in bytes. `message`: one line for a person. */
export type RestoreEvent =
  | { event: 'restore_started'; pictures: number; bytes: number }
  /** `there`: the complete picture was there already. `older`: the picture as it was before its last change. */
  | { event: 'picture_restored'; mirror: string; path: string; size: number; there: boolean; older: boolean }
  | { event: 'picture_missing'; mirror: string; path: string; code: MissingCode; message: string }

/** The events of a restore from the host's listing. `bytes`: null, because a listing rounds sizes. */
export type FromHostEvent =
  | { event: 'restore_started'; pictures: number; bytes: null }
  /**
   * `proved`: the bytes have the hash that is recorded of the image. Otherwise nothing is recorded, and size and dimensions fit
   * the listing.
   */
  | { event: 'image_restored'; path: string; size: number; there: boolean; proved: boolean }
  | { event: 'image_missing'; path: string; code: MissingCode; message: string }

/** How a restore from the host's listing came out. Both `proved` and `unproved` count images that were there already. */
export interface FromHostReport {
  restored: number
  there: number
  bytes: number
  proved: number
  unproved: number
  missing: number
  untried: number
  stopped: string | null
  interrupted: boolean
}

/** How a restore came out. */
export interface RestoreReport {
  restored: number
  /** Pictures that were there already. */
  there: number
  /** The size of all fetched pictures. */
  bytes: number
  /** Restored or there before, as an older version: the picture's last change was not uploaded. */
  older: number
  /** Restored or there before, and only linked so far: their bytes are proved now. */
  proved: number
  missing: number
  /** Not tried, because the restore ended early. */
  untried: number
  /** Left out: deleted from the disk, while their image is still on the host. */
  gone: number
  /** One line: why the restore stopped by itself. Null: it did not. */
  stopped: string | null
  interrupted: boolean
}
