import { hostWith, type PictureBody } from '../../remote/host.ts'
import type { EngineContext } from '../../sync/context.ts'

/** How far a picture is on its way to the host. */
export interface Sending {
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  /** Bytes. */
  size: number
  /** Bytes that have been sent. Null: the upload has ended, well or not. */
  sent: number | null
}

export type TellSending = (sending: Sending) => void

type Watched = Pick<EngineContext, 'host' | 'openPicture'>

/** A picture in memory is counted in pieces of so many bytes. */
const PIECE = 64 * 1024

/** The same host and disk, with `tell` called for each part of a picture that is sent. */
export function watchUploads({ host, openPicture }: Watched, tell: TellSending): Watched {
  // A body is recognized by its `chunks`, because it has the name of its file and not the path.
  const places = new WeakMap<PictureBody['chunks'], Pick<Sending, 'mirror' | 'path'>>()
  return {
    async openPicture(mirror, path, cut) {
      const open = await openPicture(mirror, path, cut)
      places.set(open.chunks, { mirror, path })
      return open
    },
    host: hostWith(host, {
      async send(credential, picture, signal) {
        const place = places.get(picture.chunks)
        if (!place) return host.send(credential, picture, signal)
        const { bytes, ...body } = picture
        const told = (sent: number | null) => tell({ ...place, size: body.size, sent })
        const chunks = () => counted(bytes ? slices(bytes) : body.chunks(), told)
        told(0)
        try {
          return await host.send(credential, { ...body, chunks }, signal)
        } finally {
          told(null)
        }
      },
    }),
  }
}

/** A chunk counts as sent when the next one is asked for. */
async function* counted(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  told: (sent: number) => void,
): AsyncGenerator<Uint8Array> {
  let sent = 0
  for await (const chunk of chunks) {
    yield chunk
    sent += chunk.byteLength
    told(sent)
  }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE)
}
