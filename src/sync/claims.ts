import type { Reason } from '../words/reasons.ts'

/** What other machines of the account leave to this one, which claims the albums of its mirrors in a store that all share. */
export interface Claims {
  /** Why nothing may be deleted at this moment, or null. Asked just before a DELETE leaves. */
  doubt(): Reason | null
  /** Whether an album is this machine's own: a claimed album, or below one. `path`: with slashes; '' is the host's root. */
  isOwn(path: string): boolean
  /** Begins the creation of an album. An album that is not this machine's own may be needed by another machine too, such as
   * "Family" for "Family/Ann" and "Family/Ben". Then one of the machines creates it. */
  beginAlbum(path: string, signal: AbortSignal): Promise<AlbumBegun>
}

/** What a machine may do about an album that the host does not list.
 * create: this machine may create the album, as long as `mayGo` says so, and tells the outcome.
 * made: another machine has created the album. The host may list it late.
 * wait: another machine may be creating the album, or nobody can tell. */
export type AlbumBegun =
  | {
      kind: 'create'
      mayGo(): boolean
      /** The host's id of the album; null: no album was created. Not called when the outcome is not known. */
      ended(id: string | null): Promise<void>
    }
  | { kind: 'made'; id: string }
  | { kind: 'wait'; why: Reason }

const FREE: AlbumBegun = { kind: 'create', mayGo: () => true, ended: async () => {} }

/** The claims where no other machine writes to the account, as far as the config tells. */
export const ALONE: Claims = { doubt: () => null, isOwn: () => true, beginAlbum: async () => FREE }
