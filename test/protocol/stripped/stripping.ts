import { hash } from 'node:crypto'
import { expect } from 'vitest'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import type { Format } from '../../../src/protocol/formats.ts'
import type { Strip } from '../../../src/protocol/picture/stripped/rules.ts'
import { stripped } from '../../../src/protocol/picture/stripped/stripped.ts'

/** The bytes that are made of these. They are the same when they are stripped again, and their hash is what was said. */
export async function strippedBytes(format: Format, file: Buffer, how: Strip): Promise<Buffer> {
  const found = await stripped(format, sourceOfBytes(file), how)
  if (found.kind === 'same') return file
  if (found.kind === 'impossible') throw new Error(JSON.stringify(found.why))
  const made = Buffer.from(await found.source.read(0, found.source.size))
  expect(hash('sha256', made, 'buffer')).toEqual(found.hash)
  expect(made.equals(file)).toBe(false)
  expect(await stripped(format, sourceOfBytes(made), how)).toEqual({ kind: 'same' })
  return made
}

/** Why these bytes can't be stripped. */
export async function obstacle(format: Format, file: Buffer, how: Strip = 'all') {
  const found = await stripped(format, sourceOfBytes(file), how)
  return found.kind === 'impossible' ? found.why : found.kind
}
