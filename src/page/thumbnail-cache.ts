import { hash } from 'node:crypto'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { orNull } from '../daemon/or-null.ts'

/** Keeps thumbnails in a folder of the state. When they have more than `most` bytes, those that were not looked at for longest
 * are removed. A disk that is full or fails only means that nothing is kept. */
export class ThumbnailCache {
  readonly #most: number
  /** How many bytes are kept. Null: not counted yet. */
  #bytes: number | null = null

  constructor(most: number) {
    this.#most = most
  }

  get(folder: string, key: string): Buffer | null {
    const file = join(folder, nameOf(key))
    return orNull(() => {
      const bytes = readFileSync(file)
      const now = new Date()
      utimesSync(file, now, now)
      return bytes
    })
  }

  put(folder: string, key: string, bytes: Uint8Array): void {
    const file = join(folder, nameOf(key))
    orNull(() => {
      mkdirSync(folder, { mode: 0o700, recursive: true })
      // Written beside the file first, because half a thumbnail would be shown for ever.
      writeFileSync(`${file}.part`, bytes, { mode: 0o600 })
      renameSync(`${file}.part`, file)
      this.#bytes = this.#bytes === null ? null : this.#bytes + bytes.length
      if (this.#bytes === null || this.#bytes > this.#most) this.#bytes = this.#makeRoom(folder)
    })
  }

  /** Removes the oldest thumbnails. Returns how many bytes are left. */
  #makeRoom(folder: string): number {
    const files = readdirSync(folder).map(name => {
      const path = join(folder, name)
      const { size, mtimeMs } = statSync(path)
      return { path, size, mtimeMs }
    })
    let bytes = files.reduce((sum, { size }) => sum + size, 0)
    if (bytes <= this.#most) return bytes
    for (const { path, size } of files.sort((one, other) => one.mtimeMs - other.mtimeMs)) {
      if (bytes <= this.#most / 2) break
      rmSync(path)
      bytes -= size
    }
    return bytes
  }
}

function nameOf(key: string): string {
  return hash('sha256', key)
}
