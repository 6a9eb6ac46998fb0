import { createHash } from 'node:crypto'
import { existsSync, constants as is, lstatSync } from 'node:fs'
import { open, readdir, unlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { realPathOf, unreadable } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { makeFolder } from '../../local/make-folder.ts'
import { whyNoPicture } from '../../local/picture-file.ts'
import type { ByteSource } from '../../protocol/byte-reader.ts'
import { isPictureName } from '../../protocol/formats.ts'
import { inspectPicture } from '../../protocol/picture/picture.ts'
import { lookAt, type MirrorLocation } from '../../sync/scan/index.ts'
import { isAtOrBelow, pathOf } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { because, factOf, inWords } from '../../words/reasons.ts'
import { NotPossible } from '../commands/command.ts'
import { whyInDoubt } from '../restore/from-moment.ts'
import { diskProblem, PictureProblem } from '../restore/picture-problem.ts'
import { PlaceFiles } from '../restore/place-files.ts'
import { safeName } from '../restore/target-folder.ts'

export interface Incoming {
  name: string
  /** Reading throws NotPossible where the picture can't be read. */
  bytes: AsyncIterable<Uint8Array>
}

/** A picture in a file. Throws NotPossible where no picture has such a name. */
export function pictureIn(path: string): Incoming {
  const name = basename(path)
  if (!isPictureName(name))
    throw new NotPossible('the name has no extension of a picture that the host takes')
  return { name, bytes: bytesOf(path) }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const refuse = (error: NodeJS.ErrnoException) => {
    throw new NotPossible(`the file ${unreadable(error.code)}`)
  }
  // Without O_NONBLOCK the opening of a pipe would wait for its writer.
  const file = await open(path, is.O_RDONLY | is.O_NONBLOCK).catch(refuse)
  try {
    if (!(await file.stat()).isFile()) throw new NotPossible('not a file')
    yield* file.createReadStream({ autoClose: false })
  } finally {
    await file.close()
  }
}

/** Returns a function that puts a picture into the folder of a mirror, whole and never over another file, and returns where it
 * lies now. The same bytes stay where they are in the folder, under any name; another picture of the name gets a number.
 * The folder is made where it does not exist. Both throw NotPossible: for a folder in no mirror, for one whose mirror is missing
 * or in doubt, for bytes that are no picture, and for a picture that no scan would find. */
export function openIntake(config: Config, synced: Synced, folder: string) {
  const root = realPathOf(folder)
  const mirror = config.mirrors.find(mirror => isAtOrBelow(root, realPathOf(mirror.folder)))
  if (!mirror)
    throw new NotPossible(inWords(because('in_no_mirror', { path: folder, mirrors: config.mirrors })))
  const top = realPathOf(mirror.folder)
  const path = root.slice(top.length + 1)
  const row = synced.mirrors.of(mirror.folder)
  const doubt = existsSync(top)
    ? row && whyInDoubt(synced, row, path)
    : because('root_missing', { folder: mirror.folder })
  if (doubt) throw new NotPossible(`${folder} takes no picture: ${inWords(doubt)}`)
  const refused = (error: unknown) =>
    error instanceof NotPossible ? error : new NotPossible(diskProblem(error, root).message)
  try {
    makeFolder(root, 0o777, [])
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    throw isFile ? new NotPossible(`${folder} is a file. Name a folder`) : refused(error)
  }
  // The temporary files are hidden, so no scan takes them.
  const files = new PlaceFiles({ root, own: root, aside: null })
  const at = (name: string): MirrorLocation => ({ mirror, path: pathOf(path, name) })
  const lookAtName = (name: string) => lstatSync(join(root, name), { throwIfNoEntry: false })
  const isTaken = (name: string) => lookAtName(name) !== undefined
  return async ({ name, bytes }: Incoming): Promise<MirrorLocation> => {
    try {
      const begun = await files.begin()
      try {
        const sum = createHash('sha256')
        for await (const chunk of bytes) {
          sum.update(chunk)
          begun.write(chunk)
        }
        await refuseNoPicture(begun, mirror.converts)
        const wanted = { known: { size: begun.size, sha256: sum.digest() }, mtime: null }
        // Sizes come first, because a folder may hold many pictures.
        const isAlike = async (to: string) =>
          lookAtName(to)?.size === begun.size &&
          lookAt(realDisk, at(to)).kind === 'picture' &&
          (await files.there({ ...wanted, to }).catch(another)) !== null
        for (const to of [numbered(name, 0), ...(await readdir(root))]) if (await isAlike(to)) return at(to)
        let n = 0
        for (let isPut = false; !isPut; ) {
          while (isTaken(numbered(name, n))) n++
          isPut = await files.finish(begun, { ...wanted, to: numbered(name, n) }).then(
            () => true,
            error => {
              // Another program may have taken the name meanwhile.
              if (isTaken(numbered(name, n))) return false
              throw error
            },
          )
        }
        const place = at(numbered(name, n))
        const found = lookAt(realDisk, place)
        if (found.kind === 'left_out') {
          await unlink(join(root, numbered(name, n)))
          throw new NotPossible(`would be left out: ${inWords(found.reason)}`)
        }
        await files.flush()
        return place
      } finally {
        await begun.close()
      }
    } catch (error) {
      throw refused(error)
    }
  }
}

async function refuseNoPicture(bytes: ByteSource, converts = false): Promise<void> {
  if (bytes.size === 0) throw new NotPossible(inWords(because('empty_yet')), 'NOT_READY')
  const { picture, foreign } = await inspectPicture(bytes, 'size')
  if (picture === null && !(converts && foreign === 'HEIC'))
    throw new NotPossible(`${factOf(whyNoPicture({ foreign }))}. Replace it`)
}

function numbered(name: string, n: number): string {
  return safeName(name, n === 0 ? '' : `-${n}`)
}

/** Null where another file has the place, or one that can't be read. Throws every other error. */
function another(error: unknown): null {
  if (error instanceof PictureProblem) return null
  throw error
}
