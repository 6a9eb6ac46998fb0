/** Finds or creates the albums that pictures go into, and finds the account's default album. */
export { ALBUM_IN_DOUBT, AlbumTree, DefaultAlbum } from './album-tree.ts'
