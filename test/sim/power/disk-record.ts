import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs'

/** What was done with the files, as `record-disk.c` writes it down. The numbers are those of its `kind`. */
export const OPEN = 1
export const WRITE = 2
export const RESIZE = 3
export const SYNC_BEGINS = 4
export const SYNC = 5
export const DATA_SYNC = 6
export const RENAME = 7
export const REMOVE = 8
export const FOLDER = 9
export const CHANGE = 10

export interface Entry {
  kind: number
  /** A descriptor, where the kind has one. */
  fd: number
  /** WRITE: the offset. RESIZE: the size. OPEN: 1 when the file is new, 2 when it was emptied. */
  number: number
  path: string
  /** RENAME: the new path. */
  to: string
  bytes: Buffer
}

const HEAD = 48

/** Reads the record while it is being written. */
export class DiskRecord {
  readonly #file: number
  #at = 0

  constructor(path: string) {
    this.#file = openSync(path, 'r+')
  }

  /** What was added since the last call. */
  news(): Entry[] {
    const { size } = fstatSync(this.#file)
    if (size === this.#at) return []
    const bytes = Buffer.alloc(size - this.#at)
    readSync(this.#file, bytes, 0, bytes.length, this.#at)
    this.#at = size
    const entries: Entry[] = []
    for (let at = 0; at < bytes.length; ) {
      const [kind, fd, number, path, to, length] = [0, 1, 2, 3, 4, 5].map(field =>
        Number(bytes.readBigInt64LE(at + 8 * field)),
      ) as [number, number, number, number, number, number]
      const take = (from: number, n: number) => bytes.subarray(from, from + n)
      const [one, two, data] = [at + HEAD, at + HEAD + path, at + HEAD + path + to] as const
      entries.push({
        kind,
        fd,
        number,
        path: `${take(one, path)}`,
        to: `${take(two, to)}`,
        bytes: take(data, length),
      })
      at = data + length
    }
    return entries
  }

  /** Begins anew with an empty record. */
  clear(): void {
    ftruncateSync(this.#file)
    this.#at = 0
  }

  close(): void {
    closeSync(this.#file)
  }
}
