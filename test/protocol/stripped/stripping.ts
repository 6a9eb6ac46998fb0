import { hash } from 'node:crypto'
import { expect } from 'vitest'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import type { Format } from '../../../src/protocol/formats.ts'
import type { Strip } from '../../../src/protocol/picture/stripped/rules.ts'
import { stripped } from '../../../src/protocol/picture/stripped/stripped.ts'

/** The bytes that are made of these. They are the same when they are stripped again, and their hash is what was said. */
export async function strippedBytes(format: Format, file: Buffer, how: Strip): Promise<Buffer> {
  const found = await stripped(format, sourceOfBytes(file), how)
  if (found.kind === 'whole') return file
  if (found.kind === 'impossible') throw new Error(JSON.stringify(found.why))
  const made = Buffer.from(await found.source.read(0, found.source.size))
  expect(hash('sha256', made, 'buffer')).toEqual(found.hash)
  expect(await stripped(format, sourceOfBytes(made), how)).toMatchObject({ kind: 'made', hash: found.hash })
  return made
}

/** Why these bytes can't be stripped, or whether they stay the same. */
export async function obstacle(format: Format, file: Buffer, how: Strip = 'all') {
  const found = await stripped(format, sourceOfBytes(file), how)
  if (found.kind === 'impossible') return found.why
  return found.kind === 'whole' || found.hash.equals(hash('sha256', file, 'buffer')) ? 'same' : found.kind
}
