import type { Disk } from '../../local/disk.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import { hostWith, type ImageHost } from '../../remote/host.ts'

/** Called after every step on disk and host. A disk that hangs takes no step, so the silence can be noticed. */
type Alive = () => void

export function diskWithSigns(disk: Disk, alive: Alive): Disk {
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

export function pictureWithSigns(picture: OpenPicture, alive: Alive): OpenPicture {
  return {
    ...picture,
    async *chunks() {
      for await (const chunk of picture.chunks()) {
        alive()
        yield chunk
      }
    },
  }
}

/**
 * How often fetching a picture counts as a sign of life, because a large picture on a slow line takes long. Where no
 * byte comes, the client itself ends the request after `host.timeout`.
 */
const FETCHING_MS = 30_000

/** For other requests the gate calls `alive`. */
export function hostWithSigns(host: ImageHost, alive: Alive): ImageHost {
  return hostWith(host, {
    async fetchDelivered(...args) {
      const timer = setInterval(alive, FETCHING_MS).unref()
      try {
        return await host.fetchDelivered(...args)
      } finally {
        clearInterval(timer)
      }
    },
  })
}
