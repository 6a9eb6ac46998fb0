import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { PROGRAM, setStage } from '../stage/stage.ts'

it.skipIf(!existsSync('/dev/full') && !process.env.CI)(
  'a log that can not be written does not end the daemon',
  async () => {
    const stage = await setStage()
    stage.write('red.png', png().bytes)
    const line = `exec '${process.execPath}' '${PROGRAM}' run --config '${stage.config}' > /dev/full`
    const daemon = spawn('sh', ['-c', line], { cwd: stage.home, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    daemon.stderr.on('data', text => {
      said += text
    })
    const ended = new Promise(resolve => daemon.once('close', resolve))
    await expect
      .poll(() => stage.delivered(), { timeout: 60_000, interval: 500 })
      .toHaveProperty(['Photos/red.png'])
    daemon.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(said).toBe('')
  },
)

it.skipIf(!existsSync('/dev/full') && !process.env.CI)(
  'a command whose answer can not be written fails in one line',
  async () => {
    const stage = await setStage()
    const { code, err } = await stage.shell(`status --config '${stage.config}' > /dev/full`)
    expect({ code, err }).toEqual({
      code: 1,
      err: 'albumd: what this command tells could not be written (ENOSPC); make room\n',
    })
  },
)

it('status --watch ends once nobody reads along', async () => {
  const stage = await setStage()
  const { code, out } = await stage.shell(`status --watch --config '${stage.config}' | head -n 1`)
  expect({ code, out }).toEqual({ code: 0, out: 'albumd is not running\n' })
})
