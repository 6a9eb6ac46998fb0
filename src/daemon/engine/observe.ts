import type { Disk } from '../../local/disk.ts'
import { hostWith, type PictureBody } from '../../remote/host.ts'
import type { EngineContext } from '../../sync/context.ts'
import type { Bus, Sending } from '../events.ts'

/** What the engine works on. */
type World = Pick<EngineContext, 'disk' | 'host' | 'openPicture'>

/**
 * How often fetching a picture counts as a sign of life, because a large picture on a slow line takes long. Where no
 * byte comes, the client itself ends the request after `host.timeout`.
 */
const FETCHING_MS = 30_000
/** A picture in memory is counted in pieces of so many bytes. */
const PIECE = 64 * 1024

/**
 * Wraps disk, host and pictures, so that `alive` is published for every step, and `sending` for each part that is sent. A
 * disk that hangs takes no step, so the silence can be noticed.
 */
export function observed({ disk, host, openPicture }: World, bus: Bus): World {
  // A body is recognized by its `chunks`, because it has the name of its file and not the path.
  const locations = new WeakMap<PictureBody['chunks'], Pick<Sending, 'mirror' | 'path'>>()
  return {
    disk: diskWithSigns(disk, bus.alive),
    async openPicture(mirror, path, cut) {
      const picture = await openPicture(mirror, path, cut)
      bus.alive()
      const chunks = () => counted(picture.chunks(), bus.alive)
      locations.set(chunks, { mirror, path })
      return { ...picture, chunks }
    },
    // For other requests the gate has `alive` published.
    host: hostWith(host, {
      async send(credential, picture, signal) {
        const location = locations.get(picture.chunks)
        if (!location || !bus.hears('sending')) return host.send(credential, picture, signal)
        const { bytes, ...body } = picture
        const told = (sent: number | null) => bus.publish('sending', { ...location, size: body.size, sent })
        const chunks = () => counted(bytes ? slices(bytes) : body.chunks(), told)
        told(0)
        try {
          return await host.send(credential, { ...body, chunks }, signal)
        } finally {
          told(null)
        }
      },
      async fetchDelivered(...args) {
        const timer = setInterval(bus.alive, FETCHING_MS).unref()
        try {
          return await host.fetchDelivered(...args)
        } finally {
          clearInterval(timer)
        }
      },
    }),
  }
}

/** Calls `told` with the sum of the bytes so far. A chunk counts when the next one is asked for. */
async function* counted(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  told: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of chunks) {
    yield chunk
    bytes += chunk.byteLength
    told(bytes)
  }
}

function* slices(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

function diskWithSigns(disk: Disk, alive: () => void): Disk {
  const told = <T>(result: T) => {
    alive()
    return result
  }
  return {
    ...disk,
    readFolder: path => told(disk.readFolder(path)),
    lstat: path => told(disk.lstat(path)),
    readText: path => told(disk.readText(path)),
    mountPoints: folder => told(disk.mountPoints(folder)),
  }
}
