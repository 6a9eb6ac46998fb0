import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { stateProblem } from '../../../src/daemon/state/state-problem.ts'
import { tempFolder } from '../../temp-folder.ts'

it('a state that does not exist yet has no problem', () => {
  const folder = tempFolder()
  expect(stateProblem(folder)).toBeNull()
  expect(stateProblem(join(folder, 'not/yet'))).toBeNull()
})

const NOBODY = 65534

/** The error for a state at `path`. Runs as a user other than root, because root may read everything. */
function refusalOf(path: string): unknown {
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    return stateProblem(path)
  } catch (error) {
    return error
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

function closedFolder(owner: number): string {
  const folder = tempFolder()
  chmodSync(folder, 0o000)
  onTestFinished(() => chmodSync(folder, 0o700))
  if (process.getuid?.() === 0) chownSync(folder, owner, owner)
  return folder
}

it.runIf(process.getuid?.() === 0)(
  "refuses another user's: it would look as if nothing were recorded",
  () => {
    const folder = closedFolder(0)
    expect(refusalOf(folder)).toMatchObject({
      code: 'STATE_UNREADABLE',
      message: `${folder} belongs to another user. Run this as the user that albumd runs as, or with sudo`,
    })
  },
)

it.runIf(process.geteuid)("a folder's own user is told that its permissions keep this user out", () => {
  const folder = closedFolder(NOBODY)
  const refusal = {
    code: 'STATE_UNREADABLE',
    message: `${folder} keeps its own user out (EACCES). Say chmod u+rwx ${folder}`,
  }
  expect(refusalOf(folder)).toMatchObject(refusal)
  expect(refusalOf(join(folder, 'state'))).toMatchObject(refusal)
})
