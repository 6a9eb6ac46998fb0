/** The endpoints of §4: their paths, and their names in config, logs and status. */

export type Endpoint = 'upload' | 'send' | 'list' | 'delete' | 'create_album'

export const ENDPOINTS: readonly Endpoint[] = ['upload', 'send', 'list', 'delete', 'create_album']

/** Paths below {base_url}. `send` (§4.2) has none: its address is the `upload_url` of step 1. */
export const PATHS = {
  upload: '/upload',
  list: '/list',
  delete: '/delete',
  create_album: '/create_album',
} as const

/** The alternative form of step 1 (§4.3), below {site_url}. */
export const PRESIGN_PATH = '/api/presign'

/** The path in which every {base_url} ends (§9.1). */
export const VERSION_PATH = '/api/v1'

/** Images are delivered below this path of {cdn_base_url} (§4.3.3). */
export const DELIVERY_PATH = '/i/'

/** The one header that carries the API key (§5.1), in lower case, because Node gives all header names in lower case. */
export const API_KEY_HEADER = 'x-api-key'

/** The form part that holds the image in step 2 (§4.2). */
export const FILE_PART = 'file'

/** Whether an address stays on this machine, so that plain HTTP may be used (§5.4): 127.0.0.0/8 (127.1 is parsed so), ::1,
 * localhost. A name such as a.localhost does not count: a name server may resolve it. */
export function isLoopback({ hostname }: Pick<URL, 'hostname'>): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
