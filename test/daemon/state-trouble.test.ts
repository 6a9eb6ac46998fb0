import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { stateTrouble } from '../../src/daemon/state-trouble.ts'
import { tempFolder } from '../temp-folder.ts'

it('has nothing to say of a state that is not there yet', () => {
  const folder = tempFolder()
  expect(stateTrouble(folder)).toBeNull()
  expect(stateTrouble(join(folder, 'not/yet'))).toBeNull()
})

it("refuses another user's: it would look as if nothing were recorded", () => {
  const folder = tempFolder()
  chmodSync(folder, 0o000)
  const refusal = expect.objectContaining({
    code: 'STATE_UNREADABLE',
    message: `${folder}: it is another user's; run this as the user that albumd runs as, or with sudo`,
  })
  // root may look into everything.
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(65534)
  try {
    expect(() => stateTrouble(folder)).toThrow(refusal)
  } finally {
    if (isRoot) process.seteuid?.(0)
    chmodSync(folder, 0o700)
  }
})
