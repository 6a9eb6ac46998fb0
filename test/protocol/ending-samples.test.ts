import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatOfName } from '../../src/protocol/formats.ts'
import { endingOf, lengthsWithin } from './endings.ts'

const FOLDER = join(import.meta.dirname, '../../src/cli/try/pictures')

const pictures = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile() && formatOfName(entry.name))
  .map(entry => join(entry.parentPath, entry.name).slice(FOLDER.length + 1))

/** Formats with an end marker; the others say how long they are, and may end in zeros. */
const MARKED = new Set(['png', 'jpeg', 'gif', 'svg'])

describe.each(pictures)('%s', path => {
  const whole = readFileSync(join(FOLDER, path))
  const format = formatOfName(path)!

  test('is complete', async () => {
    const { kind } = await endingOf(whole)
    expect(['closed', 'whole']).toContain(kind)
    if (MARKED.has(format)) expect(kind).toBe('closed')
  })

  test('is complete with bytes behind its end, and does not end early', async () => {
    expect(await endingOf(whole, 'something else')).toEqual({ kind: 'whole' })
  })

  test('is never complete where it was cut', async () => {
    // White space behind an SVG is no part of it.
    const size = format === 'svg' ? whole.toString().trimEnd().length : whole.length
    for (const length of lengthsWithin(size)) {
      const { kind } = await endingOf(whole.subarray(0, length))
      if (kind !== 'cut') expect(`${kind} at ${length} of ${size}`).toBe('cut')
    }
  })

  if (!MARKED.has(format)) return

  test('is never complete in room that was reserved for it', async () => {
    const size = format === 'svg' ? whole.toString().trimEnd().length : whole.length
    for (const length of lengthsWithin(size)) {
      const { kind } = await endingOf(whole.subarray(0, length), Buffer.alloc(whole.length - length))
      if (kind !== 'cut') expect(`${kind} at ${length} of ${size}`).toBe('cut')
    }
  })
})
