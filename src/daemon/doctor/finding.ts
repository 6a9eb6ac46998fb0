/** What the doctor checks, in this order. */
export const CHECKS = [
  'config',
  'folder',
  'mounts',
  'watching',
  'state',
  'database',
  'disk_space',
  'daemon',
  'quota',
  'host',
  'tls',
  'clock',
  'key',
  'endpoint',
] as const

export type Check = (typeof CHECKS)[number]

/** The result of one check. */
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

export function pass(check: Check, message: string): Finding {
  return { check, status: 'pass', message, remedy: null }
}

export function warn(check: Check, message: string, remedy: string | null): Finding {
  return { check, status: 'warn', message, remedy }
}

export function fail(check: Check, message: string, remedy: string | null): Finding {
  return { check, status: 'fail', message, remedy }
}
