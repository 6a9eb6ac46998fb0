import type { Disk } from '../../local/disk.ts'
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

/** Called after every step on disk and host. A disk that hangs takes no step, so the silence can be noticed. */
type Alive = () => void

/** What the engine works on. */
type World = Pick<EngineContext, 'disk' | 'host' | 'openPicture'>

/**
 * How often fetching a picture counts as a sign of life, because a large picture on a slow line takes long. Where no
 * byte comes, the client itself ends the request after `host.timeout`.
 */
const FETCHING_MS = 30_000
/** A picture in memory is counted in pieces of so many bytes. */
const PIECE = 64 * 1024

/** Wraps disk, host and pictures, so that `alive` hears of every step, and `sending` of each part that is sent. */
export function observed({ disk, host, openPicture }: World, alive: Alive, sending?: TellSending): World {
  // A body is recognized by its `chunks`, because it has the name of its file and not the path.
  const locations = new WeakMap<PictureBody['chunks'], Pick<Sending, 'mirror' | 'path'>>()
  return {
    disk: diskWithSigns(disk, alive),
    async openPicture(mirror, path, cut) {
      const picture = await openPicture(mirror, path, cut)
      alive()
      const chunks = async function* () {
        for await (const chunk of picture.chunks()) {
          alive()
          yield chunk
        }
      }
      locations.set(chunks, { mirror, path })
      return { ...picture, chunks }
    },
    // For other requests the gate calls `alive`.
    host: hostWith(host, {
      async send(credential, picture, signal) {
        const location = locations.get(picture.chunks)
        if (!sending || !location) return host.send(credential, picture, signal)
        const { bytes, ...body } = picture
        const told = (sent: number | null) => sending({ ...location, size: body.size, sent })
        const chunks = () => counted(bytes ? slices(bytes) : body.chunks(), told)
        told(0)
        try {
          return await host.send(credential, { ...body, chunks }, signal)
        } finally {
          told(null)
        }
      },
      async fetchDelivered(...args) {
        const timer = setInterval(alive, FETCHING_MS).unref()
        try {
          return await host.fetchDelivered(...args)
        } finally {
          clearInterval(timer)
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

function diskWithSigns(disk: Disk, alive: Alive): Disk {
  const told = <T>(result: T) => {
    alive()
    return result
  }
  return {
    readFolder: path => told(disk.readFolder(path)),
    lstat: path => told(disk.lstat(path)),
    readText: path => told(disk.readText(path)),
    mountPoints: folder => told(disk.mountPoints(folder)),
    isRemote: folder => disk.isRemote(folder),
    now: () => disk.now(),
  }
}
