import type { ImageHost, Outcome } from '../../src/remote/host.ts'
import type { TestPicture } from '../pictures.ts'
import { never } from './album-stage.ts'

/** What another person does on the host, by the same interface. */

/** Puts an image there. Answers its id. */
export async function putImage(
  host: ImageHost,
  album: string | null,
  name: string,
  picture: TestPicture,
): Promise<string> {
  const { mime, width, height, bytes } = picture
  const request = { file_name: name, file_size: bytes.byteLength, mime_type: mime, width, height }
  const credential = given(await host.requestUpload({ ...request, ...(album && { album_id: album }) }, never))
  async function* chunks() {
    yield bytes
  }
  return given(
    await host.send(credential, { fileName: name, mime, size: bytes.byteLength, chunks, bytes }, never),
  ).imageId
}

/** Makes an album. Answers its id. */
export async function remoteAlbum(host: ImageHost, name: string, parent: string | null): Promise<string> {
  return given(await host.createAlbum({ name, parent_album: parent }, never)).id
}

/** The names of the albums and images in an album; undefined where it is not there. */
export async function contentOf(host: ImageHost, album: string | null): Promise<string[] | undefined> {
  const listed = await host.list(album, 1, never)
  if (!listed.ok && listed.failure.remedy === 'gone') return undefined
  const { albums, images } = given(listed)
  return [...albums.map(({ name }) => name), ...images.map(({ name }) => name ?? '')].sort()
}

function given<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.message)
  return outcome.value
}
