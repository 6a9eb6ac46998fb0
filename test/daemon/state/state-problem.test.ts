import { chmodSync, chownSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { stateProblem } from '../../../src/daemon/state/state-problem.ts'
import { asNobody, NOBODY } from '../../nobody.ts'
import { tempFolder } from '../../temp-folder.ts'

it('a state that does not exist yet has no problem', () => {
  const folder = tempFolder()
  expect(stateProblem(folder)).toBeNull()
  expect(stateProblem(join(folder, 'not/yet'))).toBeNull()
})

const refusalOf = (path: string) => asNobody(() => stateProblem(path)).catch((error: unknown) => error)

function closedFolder(owner: number): string {
  const folder = tempFolder()
  chmodSync(folder, 0o000)
  onTestFinished(() => chmodSync(folder, 0o700))
  if (process.getuid?.() === 0) chownSync(folder, owner, owner)
  return folder
}

it.runIf(process.getuid?.() === 0)(
  "refuses another user's: it would look as if nothing were recorded",
  async () => {
    const folder = closedFolder(0)
    expect(await refusalOf(folder)).toMatchObject({
      code: 'STATE_UNREADABLE',
      message: `${folder} belongs to another user. Run this as the user that albumd runs as, or with sudo`,
    })
  },
)

it.runIf(process.geteuid)("a folder's own user is told that its permissions keep this user out", async () => {
  const folder = closedFolder(NOBODY)
  const refusal = {
    code: 'STATE_UNREADABLE',
    message: `${folder} keeps its own user out (EACCES). Say chmod u+rwx ${folder}`,
  }
  expect(await refusalOf(folder)).toMatchObject(refusal)
  expect(await refusalOf(join(folder, 'state'))).toMatchObject(refusal)
})
