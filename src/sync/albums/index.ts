/** Finds or creates the albums that pictures go into, and finds the account's default album. */
export { ALBUM_IN_DOUBT } from './album-doubts.ts'
export { AlbumTree, DefaultAlbum } from './album-tree.ts'
