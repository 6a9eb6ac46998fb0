import { readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { startHost } from '../../src/host/embedded-host.ts'
import { refusalOf } from '../cli/refusal.ts'
import { runProgram } from '../e2e/stage/stage.ts'
import { serveRaw } from '../remote/serve.ts'
import { tempFolder } from '../temp-folder.ts'

/** One line and exit code 2; `named` is what the line speaks of. */
async function expectRefusal(named: string, ...args: string[]): Promise<void> {
  const { exitCode, lines } = await refusalOf(['host', '--listen', '127.0.0.1:0', ...args])
  expect([exitCode, lines.split('\n').length], lines).toEqual([2, 1])
  expect(lines).toContain(named)
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
    await expectRefusal('--api-key must be printable ASCII', ...args)
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
  const taken = new URL(await serveRaw(() => {})).host
  const args = ['host', '--listen', taken, '--no-tls', '--data', data, '--api-key', 'k']
  const { err } = await runProgram(args, tmpdir())
  expect(err).toContain('is taken')
  expect(readdirSync(data)).toContain('host.db')
})

test.each(['0.0.0.0:0', '[::]:0', 'localhost.example:0'])('plain HTTP at %s is refused', async listen => {
  const data = tempFolder()
  const line = ['host', '--data', data, '--api-key', 'k', '--no-tls', '--listen', listen]
  const { exitCode, lines } = await refusalOf(line)
  expect([exitCode, lines.split('\n').length], lines).toEqual([2, 1])
  expect(lines).toContain('--no-tls')
  expect(readdirSync(data)).toEqual([])
})

test.each([
  ['--rates', 'upload'],
  ['--rates', 'upload=0'],
  ['--rates', 'put=1'],
  ['--rates', 'list=1,list=2'],
  ['--day-begins', '25:00 UTC'],
  ['--day-begins', '00:00 Nowhere/Land'],
  ['--default-album', '/a'],
  ['--default-album', 'a/b/c/d/e/f/g/h/i/j/k'],
  ['--daily-quota', 'many'],
  ['--max-file-size', 'huge'],
  ['--credential-ttl', 'soon'],
  ['--plan', 'gold'],
])('%s %s is refused', async (option, value) => {
  await expectRefusal(option.slice(2), '--data', tempFolder(), '--api-key', 'k', option, value)
})

test('to serve, a folder and a key are needed', async () => {
  await expectRefusal('--data and --api-key')
  await expectRefusal('--api-key', '--data', tempFolder())
})

test('the help names the default of each option that has one', async () => {
  const { out } = await runProgram(['host', '--help'], tmpdir())
  const text = out.replace(/\s+/g, ' ')
  for (const said of [
    'free 50, professional 5000, flagship 50000',
    'free 10mb, professional 50mb, flagship 200mb',
    'free 1gb, professional 100gb, flagship 1000gb',
    'upload=10,send=10,list=10,delete=2,create_album=5',
    '"00:00 UTC"',
    '"10m"',
    'the root',
  ])
    expect(text).toContain(`[default: ${said}]`)
  const options = text
    .split(' --')
    .slice(1)
    .filter(option => /\[(string|boolean|choices|array)/.test(option))
  const without = options.filter(option => !option.includes('[default: ')).map(option => option.split(' ')[0])
  expect(without).toEqual(['log-level', 'version', 'help', 'data', 'api-key'])
})
