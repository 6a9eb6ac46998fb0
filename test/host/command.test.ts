import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { startHost } from '../../src/host/embedded-host.ts'
import { runProgram } from '../e2e/stage/stage.ts'
import { tempFolder } from '../temp-folder.ts'

/** A line on standard error and exit code 2; `named` is what the line speaks of. */
async function expectRefusal(named: string, ...args: string[]): Promise<void> {
  const { code, err } = await runProgram(['host', '--listen', '127.0.0.1:0', ...args], tmpdir())
  expect([code, err.trimEnd().split('\n').length], err).toEqual([2, 1])
  expect(err).toContain(named)
}

test('an empty key is refused, alone and beside others', async () => {
  const data = tempFolder()
  await expectRefusal('--api-key', '--data', data, '--api-key', '')
  await expectRefusal('--api-key', '--data', data, '--api-key', 'k', '--api-key', '')
})

test.each(['a key', 'ключ-0123456789', 'key ', 'k'.repeat(4097)])(
  'a key that no client could send is refused: %.9s',
  async key => {
    const args = ['--data', tempFolder(), '--no-tls', '--api-key', 'good', '--api-key', key]
    await expectRefusal('--api-key: a key is printable ASCII', ...args)
  },
)

test.each([
  ['--data', 'another'],
  ['--plan', 'free'],
  ['--plans-from', 'flagship'],
  ['--daily-quota', '1'],
])('%s is refused when it is given more than once', async (option, value) => {
  const data = tempFolder()
  await expectRefusal(option, '--data', data, '--api-key', 'k', option, value, option, value)
})

test('the authority to trust is named by its absolute path, for who reads it stands elsewhere', async () => {
  const data = tempFolder()
  const host = await startHost({
    data: relative(process.cwd(), data),
    listen: { host: '127.0.0.1', port: 0 },
    apiKeys: ['k'],
    plan: 'professional',
    tls: true,
  })
  await host.close()
  expect(host.caFile).toBe(join(data, 'ca.pem'))
})

test('a data folder that cannot be made or used is refused, and named', async () => {
  const folder = tempFolder()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  for (const data of ['', file, join(file, 'below'), `${folder}/${'n'.repeat(300)}`])
    await expectRefusal('--data', '--api-key', 'k', '--data', data)
})

test.runIf(process.platform === 'linux')(
  'a folder that /proc will not have ends in an error too',
  async () => {
    for (const data of ['/proc/nope', '/proc/nope/below', '/proc'])
      await expectRefusal('--data', '--api-key', 'k', '--data', data)
  },
)

test('the data folder is made with the folders above it', async () => {
  const data = join(tempFolder(), 'a', 'b', 'c')
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const args = ['host', '--listen', `127.0.0.1:${port}`, '--no-tls', '--data', data, '--api-key', 'k']
  const { err } = await runProgram(args, tmpdir())
  taken.close()
  expect(err).toContain('something listens there already')
  expect(readdirSync(data)).toContain('host.db')
})
