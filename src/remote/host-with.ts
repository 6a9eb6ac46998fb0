import type { ImageHost } from './host.ts'

/** The same host, with some of its calls replaced. */
export function hostWith(host: ImageHost, changes: Partial<ImageHost>): ImageHost {
  const calls: ImageHost = {
    requestUpload: (...args) => host.requestUpload(...args),
    send: (...args) => host.send(...args),
    list: (...args) => host.list(...args),
    deleteImage: (...args) => host.deleteImage(...args),
    deleteAlbum: (...args) => host.deleteAlbum(...args),
    createAlbum: (...args) => host.createAlbum(...args),
    fetchDelivered: (...args) => host.fetchDelivered(...args),
    blocks: untried => host.blocks(untried),
    unblock: endpoint => host.unblock(endpoint),
    close: () => host.close(),
  }
  return { ...calls, ...changes }
}
