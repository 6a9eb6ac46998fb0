import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sourceOfBytes } from '../../src/protocol/byte-reader.ts'
import type { Format } from '../../src/protocol/formats.ts'
import { imageData } from '../../src/protocol/picture/image-data.ts'
import { inspectPicture } from '../../src/protocol/picture/picture.ts'
import { inRounds } from '../measure/rounds.ts'
import { median, ratioOf } from '../measure/statistics.ts'
import type { Part } from '../part.ts'
import { digits } from '../table/units.ts'

const SAMPLES = join(import.meta.dirname, '../../src/cli/try/pictures')
/** Each round goes over so many bytes of a format, so that small samples count more than once. */
const BYTES = 64 * 2 ** 20

/** What is done with the bytes of each picture, beside SHA-256, which is computed of each in any case. */
export const walk: Part = {
  name: 'walk',
  about: 'what it costs to walk through pictures, and to hash their image data, beside SHA-256',
  async measure({ short, say, add }) {
    for (const [format, pictures] of await samplesByFormat()) {
      say(`walks through ${format}`)
      const over = (work: (bytes: Buffer) => unknown) => () => cpuOf(pictures, work)
      const runs = await inRounds(short ? 3 : 7, {
        sha256: over(bytes => createHash('sha256').update(bytes).digest()),
        walk: over(bytes => inspectPicture(sourceOfBytes(bytes))),
        'image data': over(bytes => imageData(format, sourceOfBytes(bytes))),
      })
      for (const name of ['walk', 'image data'] as const)
        add({
          figure: `${name}, ${format}`,
          ours: `${digits(median(runs[name]))} ms of CPU a MB`,
          theirs: `SHA-256 ${digits(median(runs.sha256))}`,
          ratio: ratioOf(runs[name], runs.sha256),
          aim: '',
          met: null,
        })
    }
  },
}

/** The sample pictures by format, those that have pixels enough to be measured. */
async function samplesByFormat(): Promise<Map<Format, Buffer[]>> {
  const found = new Map<Format, Buffer[]>()
  for (const name of readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })) {
    const path = join(SAMPLES, name)
    if (!statSync(path).isFile()) continue
    const bytes = readFileSync(path)
    const { picture } = await inspectPicture(sourceOfBytes(bytes))
    if (picture) found.set(picture.format, [...(found.get(picture.format) ?? []), bytes])
  }
  return found
}

/** Milliseconds of this process's processor time for a megabyte. */
async function cpuOf(pictures: readonly Buffer[], work: (bytes: Buffer) => unknown): Promise<number> {
  const before = process.cpuUsage()
  let done = 0
  while (done < BYTES)
    for (const bytes of pictures) {
      await work(bytes)
      done += bytes.length
    }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / (done / 1e6)
}
