import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { execute } from '../../e2e/stage/stage.ts'
import { canPreload } from '../../preload.ts'
import { MEMORY } from './recorder.ts'

describe.skipIf(!canPreload() && !process.env.CI)('after a power cut', () => {
  it('albumd goes on: nothing is lost, nothing is sent twice, and no state seems restored', async () => {
    const { code, out } = await cutThePower('--images', '100')
    expect(out).toContain(' 0 failures')
    expect(code).toBe(0)
  })

  it('on a disk that forgets what it promised, that would be noticed', async () => {
    const { code, out } = await cutThePower('--images', '80', '--forgets')
    expect(out).toContain('state-stays')
    expect(code).toBe(1)
  })

  it('at an op that is not there, nothing would be shown', async () => {
    const { code, out, err } = await cutThePower('--seed', '1', '--at', '999999')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toMatch(/^--at 999999: the history of seed 1 has fewer ops .*\n$/)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at %s, and leaves no folder', async signal => {
    const child = spawn(process.execPath, [RUN, '--images', '1000000'], { env: UNRECORDED, stdio: 'ignore' })
    const folders = () => readdirSync(MEMORY).filter(name => name.startsWith(`albumd-power-${child.pid}-`))
    await expect.poll(() => folders().map(name => existsSync(join(MEMORY, name, 'record')))).toEqual([true])
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([128 + constants.signals[signal], null])
    expect(folders()).toEqual([])
  })
})

const RUN = join(import.meta.dirname, 'run.ts')
const { RECORD_TO: _, ...UNRECORDED } = process.env

function cutThePower(...options: string[]) {
  return execute(process.execPath, [RUN, ...options], { env: UNRECORDED })
}
