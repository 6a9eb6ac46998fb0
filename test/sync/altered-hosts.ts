import { hostWith, type ImageHost } from '../../src/remote/host.ts'

/** The host, with the names of the pictures that are sent written down. */
export function counting(host: ImageHost, sent: string[]): ImageHost {
  return hostWith(host, {
    send(credential, picture, signal) {
      sent.push(picture.fileName)
      return host.send(credential, picture, signal)
    },
  })
}

/** Delivery addresses that can't be reached. */
export const unreachable: ImageHost['fetchDelivered'] = async () => ({
  ok: false,
  code: 'HOST_UNREACHABLE',
  message: 'no route',
})
