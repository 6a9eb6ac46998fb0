import { Refusal } from '../../../src/host/refusal.ts'

/** A format that the host takes from nobody, and how it says so. */
export interface RefusedFormat {
  mime: string
  /** In answer to what is declared, or to the picture. */
  at: 'upload' | 'send'
  code: string
  status: number
}

/** A refusal in a code of the host's own. */
export class OwnRefusal extends Refusal {
  readonly code: string
  readonly status: number

  constructor({ mime, code, status }: RefusedFormat) {
    super('VALIDATION_ERROR', `Pictures of the type ${mime} are not taken.`)
    this.code = code
    this.status = status
  }
}

/** In the words of some hosts. */
export const REFUSALS: readonly Omit<RefusedFormat, 'mime'>[] = [
  { at: 'upload', code: 'FORMAT_NOT_SUPPORTED', status: 400 },
  { at: 'upload', code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 },
  { at: 'send', code: 'FORMAT_NOT_SUPPORTED', status: 400 },
  { at: 'send', code: 'UNSUPPORTED_MEDIA_TYPE', status: 415 },
  { at: 'send', code: 'VALIDATION_ERROR', status: 400 },
]
