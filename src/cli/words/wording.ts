import { count, sizeInWords } from '../../daemon/report/amounts.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import { because, inWords, type Reason } from '../../words/reasons.ts'

export { count, sizeInWords }

/** A text for a terminal. Control characters are escaped, because they could move the cursor or forge a line. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export function timeInWords(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  return `${Math.round(seconds / 3600)} h`
}

export function quotaLeft(pictures: number): string {
  return `quota left ${pictures.toLocaleString('en')}`
}

/** An event in one line for a person; null for events that only a program needs. */
export function eventInWords(told: SpokenEvent): string | null {
  switch (told.event) {
    case 'scan_finished':
      return `${printable(told.mirror)}: ${count(told.files, 'picture')} in ${count(told.folders, 'folder')}`
    case 'mirror_guarded':
      return `guarded: ${printable(told.reason)}`
    case 'uploads_started':
      return `${count(told.pictures, 'picture')} to compare or send (${sizeInWords(told.bytes)}); ${quotaLeft(told.quota_left)} by albumd's count`
    case 'picture_uploaded':
      return `uploaded ${printable(told.path)} (${sizeInWords(told.size)})`
    case 'picture_failed':
      return `failed ${printable(told.path)}: ${printable(told.message)} (${told.code})`
    case 'picture_uncertain':
      return `uncertain ${printable(told.path)}: ${printable(told.message)}`
    case 'picture_waits':
      return `waits ${printable(told.path)}: ${told.message}`
    case 'picture_linked':
      return `linked ${printable(told.path)} to an image that is there`
    case 'upload_found_out':
      return told.arrived
        ? `found ${printable(told.path)} on the host`
        : `${printable(told.path)} never arrived; it is sent again`
    case 'default_album_found':
      return `pictures of the host's root go to the account's default album ${printable(told.album)}`
    case 'album_created':
      return `made the album ${printable(told.album)}`
    case 'album_deleted':
      return `deleted the album ${printable(told.album)}, which nothing needs`
    case 'deleted_more':
      return printable(inWords(because('deleted_more', told)))
    case 'uploads_stopped':
      return `uploads stopped: ${printable(told.message)} (${told.code})`
    case 'image_deleted':
      return told.reason === 'superseded'
        ? `deleted the old image of ${printable(told.path)}`
        : `deleted the image of ${printable(told.path)}`
    case 'deletions_held':
      return `held: ${count(told.images, 'image')} would be deleted, beside ${count(told.pictures, 'picture')} that stay; see albumd deletions list`
    case 'image_kept':
      return `kept the image of ${printable(told.path)} for now: ${printable(told.reason)}`
    case 'scan_started':
    case 'change_found':
    case 'picture_unchanged':
      return null
  }
}

/** A failure for JSON, with its message in words. */
export function failureInWords<Failure extends { message: Reason }>(failure: Failure) {
  return { ...failure, message: inWords(failure.message) }
}
