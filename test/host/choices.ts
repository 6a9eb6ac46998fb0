/** What hosts in tests have in common, in processes of their own too. */

export const KEY = 'key-of-one'
export const OTHER_KEY = 'key-of-another'

export const UNLIMITED = {
  upload: Number.POSITIVE_INFINITY,
  send: Number.POSITIVE_INFINITY,
  list: Number.POSITIVE_INFINITY,
  delete: Number.POSITIVE_INFINITY,
  create_album: Number.POSITIVE_INFINITY,
}
