export type Check =
  | 'config'
  | 'service'
  | 'folder'
  | 'mounts'
  | 'watching'
  | 'state'
  | 'database'
  | 'disk_space'
  | 'picgo_server'
  | 'daemon'
  | 'page'
  | 'quota'
  | 'on_upload'
  | 'on_trouble'
  | 'heartbeat'
  | 'store'
  | 'metadata'
  | 'heic'
  | 'host'
  | 'tls'
  | 'clock'
  | 'key'
  | 'endpoint'

export interface Finding {
  check: Check
  /** `warn`: albumd works, but a person should know of this. */
  status: 'pass' | 'warn' | 'fail'
  /** What was checked, and what was found. It holds no secret. */
  message: string
  /** What a person can do. Null: nothing has to be done. */
  remedy: string | null
  /** The code of the host's answer or of albumd's own error, where there is one. */
  code?: string
}

const found =
  (status: Finding['status']) =>
  (check: Check, message: string, remedy: string | null = null): Finding => ({
    check,
    status,
    message,
    remedy,
  })

export const pass = found('pass')
export const warn = found('warn')
export const fail = found('fail')
