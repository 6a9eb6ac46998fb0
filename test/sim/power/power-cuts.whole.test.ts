import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { execute } from '../../e2e/stage/stage.ts'
import { canPreload } from '../../preload.ts'

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
})

function cutThePower(...options: string[]) {
  const { RECORD_TO: _, ...env } = process.env
  return execute(process.execPath, [join(import.meta.dirname, 'run.ts'), ...options], { env })
}
