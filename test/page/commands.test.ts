import { expect, it } from 'vitest'
import type { CommandQueue } from '../../src/daemon/commands/queue.ts'
import { PageCommands } from '../../src/page/commands.ts'

it.each([
  ['done', async () => {}, [1, 0, 0]],
  ['refused', () => Promise.reject(new Error('no')), [1, 1, 0]],
] as const)('shows what is %s for as long as it is of use', async (state, ask, shown) => {
  let now = 0
  const commands = new PageCommands(() => now)
  expect(commands.askFor({ ask } as unknown as CommandQueue, 'resume', {})).toBe(true)
  await expect.poll(() => commands.latest()).toMatchObject([{ state }])
  const at = (ms: number) => {
    now = ms
    return commands.latest().length
  }
  expect([0, 20_000, 600_000].map(at)).toEqual(shown)
})
