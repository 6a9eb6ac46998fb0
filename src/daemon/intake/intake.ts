import { createHash } from 'node:crypto'
import { constants as is, lstatSync } from 'node:fs'
import { open, readdir, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { realPathOf, unreadable } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { formatOfName } from '../../protocol/formats.ts'
import { lookAt, type MirrorLocation } from '../../sync/scan/index.ts'
import { isAtOrBelow, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { because, inWords } from '../../words/reasons.ts'
import { NotPossible } from '../commands/command.ts'
import { whyInDoubt } from '../restore/from-moment.ts'
import { diskProblem, PictureProblem } from '../restore/picture-problem.ts'
import { PlaceFiles } from '../restore/place-files.ts'
import { safeName } from '../restore/target-folder.ts'

/** A picture that lies elsewhere. */
export interface Incoming {
  /** The name of its file. */
  name: string
  /** Reading throws NotPossible where the picture can't be read. */
  bytes: AsyncIterable<Uint8Array>
}

/** A picture in a file. Throws NotPossible where its name is no picture's. */
export function pictureIn(path: string): Incoming {
  const name = basename(path)
  if (formatOfName(name) === null)
    throw new NotPossible(`${path}: the name has no extension of a picture that the host takes`)
  return { name, bytes: bytesOf(path) }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const refuse = (error: NodeJS.ErrnoException) => {
    throw new NotPossible(`${path} ${unreadable(error.code)}`)
  }
  // Without O_NONBLOCK the opening of a pipe would wait for its writer.
  const file = await open(path, is.O_RDONLY | is.O_NONBLOCK).catch(refuse)
  try {
    if (!(await file.stat()).isFile()) throw new NotPossible(`${path} is not a file`)
    yield* file.createReadStream({ autoClose: false })
  } finally {
    await file.close()
  }
}

/** The folder of a mirror that takes pictures in from elsewhere. It is made where it does not exist. Throws NotPossible for a
 * folder in no mirror, and where the mirror's folder is missing or in doubt. */
export function openIntake(config: Config, synced: Synced, folder: string): Intake {
  const root = realPathOf(folder)
  const mirror = config.mirrors.find(mirror => isAtOrBelow(root, realPathOf(mirror.folder)))
  if (!mirror)
    throw new NotPossible(inWords(because('in_no_mirror', { path: folder, mirrors: config.mirrors })))
  const path = root.slice(realPathOf(mirror.folder).length + 1)
  const row = synced.mirrors.of(mirror.folder)
  const isThere = lstatSync(realPathOf(mirror.folder), { throwIfNoEntry: false })?.isDirectory()
  const doubt = isThere
    ? row && whyInDoubt(synced, row, path)
    : because('root_missing', { folder: mirror.folder })
  if (doubt) throw new NotPossible(`${folder} takes no picture: ${inWords(doubt)}`)
  try {
    makeFolder(root, 0o777)
  } catch (error) {
    throw new NotPossible(diskProblem(error, root).message)
  }
  return new Intake(root, { mirror, path })
}

/** Puts pictures into the folder of a mirror, each whole and never over another file. */
export class Intake {
  readonly #files: PlaceFiles
  readonly #folder: MirrorLocation

  constructor(root: string, folder: MirrorLocation) {
    // The temporary files are hidden, so no scan takes them.
    this.#files = new PlaceFiles({ root, own: root, aside: null })
    this.#folder = folder
  }

  /** Returns where the picture lies now. The same bytes stay where they are, under this name or a numbered one; another
   * picture of the name gets a number. Throws NotPossible. */
  async take({ name, bytes }: Incoming): Promise<MirrorLocation> {
    const { root } = this.#files
    try {
      const begun = await this.#files.begin()
      try {
        const sum = createHash('sha256')
        for await (const chunk of bytes) {
          sum.update(chunk)
          begun.write(chunk)
        }
        if (begun.size === 0) throw new NotPossible(`${name} is empty`)
        const known = { size: begun.size, sha256: sum.digest() }
        const isIt = (to: string) =>
          this.#files.sizeThere({ to, known, mtime: null }).then(size => size !== null, isAnother)
        for (const to of await readdir(root))
          if (isNumbered(to, name) && (await isIt(to))) return this.#at(to)
        const isTaken = (to: string) => lstatSync(join(root, to), { throwIfNoEntry: false }) !== undefined
        for (let n = 0; ; n++) {
          const to = safeName(name, n === 0 ? '' : `-${n}`)
          if (isTaken(to)) continue
          try {
            await this.#files.finish(begun, { to, known, mtime: null })
          } catch (error) {
            // Another program may have taken the name meanwhile.
            if (isTaken(to)) continue
            throw error
          }
          return await this.#kept(to)
        }
      } finally {
        await begun.close()
      }
    } catch (error) {
      if (error instanceof NotPossible) throw error
      throw new NotPossible(`${name}: ${diskProblem(error, root).message}`)
    }
  }

  /** A picture that no scan would find is not kept. */
  async #kept(name: string): Promise<MirrorLocation> {
    const place = this.#at(name)
    const found = lookAt(realDisk, place)
    if (found.kind === 'left_out') {
      await unlink(join(this.#files.root, name))
      throw new NotPossible(`${name} would be left out: ${inWords(found.reason)}`)
    }
    await this.#files.flush()
    return place
  }

  #at(name: string): MirrorLocation {
    const { mirror, path } = this.#folder
    return { mirror, path: pathOf(path, name) }
  }
}

function isNumbered(name: string, of: string): boolean {
  const number = /-([1-9]\d*)(?:\.[^.]*)?$/.exec(name)?.[1]
  return name === safeName(of) || (number !== undefined && name === safeName(of, `-${number}`))
}

/** False: another file is there, or one that can't be read. */
function isAnother(error: unknown): false {
  if (error instanceof PictureProblem) return false
  throw error
}
