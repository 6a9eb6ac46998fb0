import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { png } from '../../pictures.ts'
import { sha256 } from '../stage/stage.ts'
import type { Chance } from './kill-watch.ts'

interface Picture {
  hash: string
  /** The edit that left it as it is. */
  since: number
}

const FOLDERS = ['', 'a', 'a/b', 'c', 'c/d/e']
/** Fewer than a folder may lose at once without being in doubt. */
const PICTURES_MAX = 18

/** People who add, change, move, delete and bring back pictures, and rename folders, as chance has it. */
export class People {
  readonly #root: string
  readonly #chance: Chance
  /** By path below the root. */
  readonly #pictures = new Map<string, Picture>()
  readonly #deleted = new Map<string, Buffer>()
  readonly #bytes = new Map<string, Buffer>()
  #edits = 0
  #made = 0

  constructor(root: string, chance: Chance) {
    this.#root = root
    this.#chance = chance
  }

  /** How many edits there have been. */
  get edits(): number {
    return this.#edits
  }

  /** Path → SHA-256 of the pictures that have stood as they are since before that many edits. */
  standingSince(edits: number): Map<string, string> {
    const standing = [...this.#pictures].filter(([, { since }]) => since <= edits)
    return new Map(standing.map(([path, { hash }]) => [path, hash]))
  }

  edit(): void {
    this.#edits++
    const few = this.#pictures.size < 6
    const roll = few ? 0 : this.#chance.below(100)
    if (roll < 30 && this.#pictures.size < PICTURES_MAX) this.#write(this.#newPath(), this.#newBytes())
    else if (roll < 50) this.#write(this.#somePath(), this.#newBytes())
    else if (roll < 65) this.#move(this.#somePath(), this.#newPath())
    else if (roll < 75) this.#renameFolder()
    else if (roll < 92) this.#delete(this.#somePath())
    else this.#bringBack()
  }

  #write(path: string, bytes: Buffer): void {
    const file = join(this.#root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
    const hash = sha256(bytes)
    this.#bytes.set(hash, bytes)
    this.#pictures.set(path, { hash, since: this.#edits })
  }

  #move(from: string, to: string): void {
    mkdirSync(dirname(join(this.#root, to)), { recursive: true })
    renameSync(join(this.#root, from), join(this.#root, to))
    const { hash } = this.#pictures.get(from)!
    this.#pictures.delete(from)
    this.#pictures.set(to, { hash, since: this.#edits })
  }

  #delete(path: string): void {
    rmSync(join(this.#root, path))
    this.#deleted.set(path, this.#bytes.get(this.#pictures.get(path)!.hash)!)
    this.#pictures.delete(path)
  }

  /** With its old bytes or with others. */
  #bringBack(): void {
    const path = this.#chance.of([...this.#deleted.keys()].filter(gone => this.#isFree(gone)))
    if (path === undefined) return
    this.#write(path, this.#chance.below(2) ? this.#deleted.get(path)! : this.#newBytes())
    this.#deleted.delete(path)
  }

  #renameFolder(): void {
    const from = dirname(this.#somePath())
    const to = `${this.#chance.of(FOLDERS.slice(1))}/f${this.#chance.below(4)}`
    if (from === '.' || existsSync(join(this.#root, to)) || `${to}/`.startsWith(`${from}/`)) return
    mkdirSync(dirname(join(this.#root, to)), { recursive: true })
    renameSync(join(this.#root, from), join(this.#root, to))
    for (const [path, { hash }] of [...this.#pictures]) {
      if (!path.startsWith(`${from}/`)) continue
      this.#pictures.delete(path)
      this.#pictures.set(to + path.slice(from.length), { hash, since: this.#edits })
    }
  }

  /** Few names: they come back with other bytes, here and in other folders. */
  #newPath(): string {
    for (;;) {
      const folder = this.#chance.of(FOLDERS)!
      const path = join(folder, `${this.#chance.below(8)}.png`)
      if (this.#isFree(path)) return path
    }
  }

  #isFree(path: string): boolean {
    return !existsSync(join(this.#root, path))
  }

  #somePath(): string {
    return this.#chance.of([...this.#pictures.keys()])!
  }

  /** Mostly such as there were not, of few dimensions; now and then a copy of another. */
  #newBytes(): Buffer {
    const twin = this.#chance.below(10) === 0 ? this.#chance.of([...this.#pictures.values()]) : undefined
    if (twin) return this.#bytes.get(twin.hash)!
    const n = this.#made++
    // 6 and 251 have no common divisor: the pair is another each time for 1,506 times.
    return png(3 + (n % 6), 2 + Math.floor(n / 1506), n % 251).bytes
  }
}
