import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatOfName } from '../../src/protocol/formats.ts'
import { walkBmp } from '../../src/protocol/picture/bmp.ts'
import { walkGif } from '../../src/protocol/picture/gif.ts'
import { walkIco } from '../../src/protocol/picture/ico.ts'
import type { Walk } from '../../src/protocol/picture/part.ts'
import { walkPng } from '../../src/protocol/picture/png.ts'
import { walkSvg } from '../../src/protocol/picture/svg.ts'
import { walkTiff } from '../../src/protocol/picture/tiff.ts'
import { walkWebp } from '../../src/protocol/picture/webp.ts'
import { lengthsWithin, verdictOf } from './verdicts.ts'

const FOLDER = join(import.meta.dirname, '../../src/cli/try/pictures')

const WALKS: Record<string, Walk> = {
  png: walkPng,
  gif: walkGif,
  webp: walkWebp,
  bmp: walkBmp,
  ico: walkIco,
  tiff: walkTiff,
  svg: walkSvg,
}
/** Formats with an end mark, and how long it is where a file without it still has all its pixels. */
const MARKED: Record<string, number> = { png: 12, gif: 1, svg: 0 }

const pictures = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && (formatOfName(entry.name) ?? 'jpeg') !== 'jpeg')
  .map(entry => join(entry.parentPath, entry.name).slice(FOLDER.length + 1))

describe.each(pictures)('%s', path => {
  const whole = readFileSync(join(FOLDER, path))
  const format = formatOfName(path)!
  const walk = WALKS[format]!
  // White space behind an SVG is no part of it.
  const size = format === 'svg' ? whole.toString().trimEnd().length : whole.length

  test('is closed, and not early with bytes behind its end', async () => {
    expect(await verdictOf(walk, whole)).toMatchObject({
      kind: 'closed',
      ...(MARKED[format] && { early: true }),
    })
    expect(await verdictOf(walk, whole, 'something else')).toEqual({ kind: 'closed', early: false })
  })

  test('is missing where it was cut, and odd where only its end mark was', async () => {
    for (const length of lengthsWithin(size)) {
      const { kind } = await verdictOf(walk, whole.subarray(0, length))
      const wanted = length === size - (MARKED[format] ?? 0) ? 'odd' : 'missing'
      if (kind !== wanted) expect(`${kind} at ${length} of ${size}`).toBe(wanted)
    }
  })

  if (!(format in MARKED)) return

  test('is missing in room that was reserved for it', async () => {
    for (const length of lengthsWithin(size)) {
      const { kind } = await verdictOf(walk, whole.subarray(0, length), Buffer.alloc(whole.length - length))
      if (kind !== 'missing') expect(`${kind} at ${length} of ${size}`).toBe('missing')
    }
  })
})
