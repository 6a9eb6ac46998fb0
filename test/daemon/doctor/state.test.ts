import { chmodSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { checkStateFolder } from '../../../src/daemon/doctor/state.ts'
import { tempFolder } from '../../temp-folder.ts'

// root may write everywhere.
it.skipIf(process.getuid === undefined || process.getuid() === 0)(
  'a state folder whose permissions keep its own user out is opened by its mode, not given to another',
  () => {
    const folder = tempFolder()
    onTestFinished(() => chmodSync(folder, 0o700))
    for (const mode of [0o000, 0o500]) {
      chmodSync(folder, mode)
      expect(checkStateFolder({ state_dir: folder })).toMatchObject([
        { status: 'fail', remedy: `chmod u+rwx ${folder}` },
      ])
    }
  },
)
