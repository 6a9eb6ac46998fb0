/** The albums that pictures go into: looked up, or created when they are missing. And the account's default album. */
export { ALBUM_IN_DOUBT, AlbumTree, askToMakeNothing } from './album-tree.ts'
export { DefaultAlbum } from './default-album.ts'
