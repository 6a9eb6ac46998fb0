import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sourceOfBytes } from '../../src/protocol/byte-reader.ts'
import { formatOfName } from '../../src/protocol/formats.ts'
import { inspectPicture } from '../../src/protocol/picture/picture.ts'
import { lengthsWithin } from './verdicts.ts'

const FOLDER = join(import.meta.dirname, '../../src/cli/try/pictures')
const pictures = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && formatOfName(entry.name))
  .map(entry => join(entry.parentPath, entry.name).slice(FOLDER.length + 1))

async function flawOf(bytes: Buffer) {
  const { verdict } = await inspectPicture(sourceOfBytes(bytes))
  return verdict.kind === 'closed' ? null : verdict
}

describe.each(pictures)('what is wrong with %s is named where it stands', path => {
  const whole = readFileSync(join(FOLDER, path))
  // UTF-16 apart, a character of an SVG is a byte.
  const lengths = lengthsWithin(whole.length).filter((_, index) => index % 3 === 0)

  test('a cut where the file ends', async () => {
    for (const length of lengths) {
      const flaw = await flawOf(whole.subarray(0, length))
      if (flaw?.code === 'cut') expect([flaw.part, flaw.at]).toEqual([flaw.part, length])
    }
  })

  test('zeros where zeros stand', async () => {
    for (const from of lengths)
      for (const to of [from + 5000, whole.length]) {
        const bytes = Buffer.from(whole).fill(0, from, Math.min(to, whole.length))
        const flaw = await flawOf(bytes)
        if (flaw?.code !== 'unwritten' && flaw?.code !== 'zeros') continue
        const read = bytes[flaw.at] ?? 'none'
        expect([from, to, flaw.code, flaw.part, flaw.at, read]).toEqual([
          ...[from, to, flaw.code, flaw.part, flaw.at],
          0,
        ])
      }
  })
})
