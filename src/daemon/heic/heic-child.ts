import { hash as hashOf } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { PictureFileError, readInside } from '../../local/open-file.ts'
import { ByteReader, sourceOfBytes } from '../../protocol/byte-reader.ts'
import { newExif } from '../../protocol/picture/stripped/exif.ts'
import { answerTasks } from '../worker-process.ts'
import type { Answer, Task } from './converter.ts'
import { decodeHeic } from './decode.ts'
import { encodeJpeg } from './encode.ts'
import { LibHeif } from './libheif.ts'
import { HeicProblem } from './problem.ts'

/** The process that makes JPEGs of HEICs. It ends when anything else than the picture is at fault. */
answerTasks(converting())

function converting(): (task: Task) => Promise<Answer> {
  let lib: LibHeif | undefined
  return async task => {
    try {
      const bytes = await read(task)
      lib ??= new LibHeif(task.library)
      return await convert(lib, bytes, task)
    } catch (error) {
      if (!(error instanceof HeicProblem)) throw error
      return { kind: 'impossible', code: error.code, detail: error.message }
    } finally {
      lib?.close()
    }
  }
}

/** All bytes of the file that was meant. */
async function read({ mirror, path, hash }: Task): Promise<Buffer> {
  const bytes = await readInside(mirror, path).catch(error => {
    if (!(error instanceof PictureFileError)) throw error
    throw new HeicProblem('changed', error.message)
  })
  if (!hashOf('sha256', bytes, 'buffer').equals(hash)) throw new HeicProblem('changed', 'other bytes')
  return bytes
}

async function convert(lib: LibHeif, bytes: Buffer, { keep, into }: Task): Promise<Answer> {
  const picture = decodeHeic(lib, bytes)
  const { width, height, exif } = picture
  const reader = exif && new ByteReader(sourceOfBytes(exif))
  const kept = reader && (await newExif(reader, [0, reader.size], undefined, keep))
  const [jpeg, encoder] = await encodeJpeg(picture, kept)
  try {
    writeFileSync(into, jpeg, { mode: 0o600 })
  } catch (error) {
    throw new HeicProblem('no_room', (error as Error).message)
  }
  const maker = `libheif ${lib.version}, ${encoder}`
  return { kind: 'made', size: jpeg.byteLength, hash: hashOf('sha256', jpeg, 'buffer'), width, height, maker }
}
