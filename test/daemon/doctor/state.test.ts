import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import type { Finding } from '../../../src/daemon/doctor/finding.ts'
import { checkDiskSpace, checkStateFolder } from '../../../src/daemon/doctor/state.ts'
import { claimState } from '../../../src/daemon/state/claim.ts'
import { NOBODY } from '../../nobody.ts'
import { tempFolder } from '../../temp-folder.ts'

const CHECK = new URL('../../../src/daemon/doctor/state.ts', import.meta.url).href

/** What a check says to the folder's own user. Runs as a user other than root, because root may write everywhere. */
function findingsOn(folder: string, check = 'checkStateFolder({ state_dir: folder })'): Finding[] {
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const script = `import { checkIntake, checkStateFolder } from '${CHECK}'
    const folder = process.argv[1]
    console.log(JSON.stringify([...${check}]))`
  const args = ['--input-type=module', '-e', script, folder]
  const said = execFileSync(process.execPath, args, { cwd: '/', ...(isRoot && { uid: NOBODY, gid: NOBODY }) })
  return JSON.parse(said.toString())
}

it.runIf(process.getuid)(
  'for a folder whose permissions keep its own user out, chmod is the remedy and not another owner',
  () => {
    const folder = tempFolder()
    onTestFinished(() => chmodSync(folder, 0o700))
    for (const mode of [0o000, 0o500]) {
      chmodSync(folder, mode)
      expect(findingsOn(folder)).toMatchObject([{ status: 'fail', remedy: `chmod u+rwx ${folder}` }])
    }
  },
)

it.runIf(process.getuid)('a folder for pictures from editors must be one that can be made or written', () => {
  const folder = tempFolder()
  onTestFinished(() => chmodSync(folder, 0o700))
  const check =
    'checkIntake({ picgo_server: { folder: folder + "/blog/2026" }, mirrors: [{ folder, ignore: [] }] })'
  expect(findingsOn(folder, check)).toMatchObject([{ status: 'pass' }])
  chmodSync(folder, 0o500)
  expect(findingsOn(folder, check)).toMatchObject([
    { status: 'fail', remedy: expect.stringContaining(folder) },
  ])
  expect(findingsOn(folder, 'checkIntake({ picgo_server: {} })')).toEqual([])
  chmodSync(folder, 0o700)
  expect(findingsOn(folder, check.replace('/blog/', '/.blog/'))).toMatchObject([
    { status: 'fail', message: expect.stringContaining('hidden') },
  ])
  expect(findingsOn(folder, check.replace('[]', '["blog/"]'))).toMatchObject([{ status: 'fail' }])
})

it('a file in the place of the state folder is no folder, for the doctor and for whoever wants the state', async () => {
  const file = join(tempFolder(), 'state')
  writeFileSync(file, '')
  expect([...checkStateFolder({ state_dir: file })]).toMatchObject([
    { status: 'fail', message: `${file} is not a folder`, remedy: expect.stringContaining('state_dir') },
  ])
  const config = { state_dir: file, mirrors: [] } as unknown as Config
  expect(() => claimState(config)).toThrow(`${file} is not a folder. Move it away`)
})

it('the disk space is told beside how much there should be', () => {
  expect(checkDiskSpace({ state_dir: tempFolder() }).message).toMatch(
    /MB free, of at least 1,024 MB that should be$/,
  )
})
