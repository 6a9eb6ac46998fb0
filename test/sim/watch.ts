import type { PictureBody } from '../../src/remote/host.ts'

/** What the oracle is asked before a request leaves that can't be undone, and what it hears of answers. */
export interface Watch {
  imageDeletion(id: string): void
  albumDeletion(id: string): void
  /** An album is asked for. Answers the moment up to which those of others are known. */
  albumCreation(): number
  fetched(id: string): void
  /** An upload of a file of this name is asked for. */
  credential(name: string): void
  /** Answers the path that the picture comes from. */
  sending(picture: PictureBody): string
  readonly quota: QuotaWatch
}

export interface QuotaWatch {
  /** Albumd asks for leave to upload: nothing holds the request back any more. Answers its number. */
  asked(): number
  /** That request's answer has come: the host gives leave, or says that the day's quota is used up. */
  granted(request: number): void
  refused(request: number): void
}
