/** What the doctor looks at, in this order. */
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

/** One thing that was looked at. */
export interface Finding {
  check: Check
  /** `warn`: it works, and a person should know. */
  status: 'pass' | 'warn' | 'fail'
  /** What was seen, of what. Never a secret. */
  message: string
  /** What a person can do; null where there is nothing to do. */
  remedy: string | null
  /** That of the host's answer, where it is one. */
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
