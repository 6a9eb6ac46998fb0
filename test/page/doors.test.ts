import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { daemonHere } from '../e2e/stage/process.ts'
import { NOBODY } from '../nobody.ts'
import { ask, type PageStage, setPageStage } from './page-stage.ts'

const isRoot = process.getuid?.() === 0

function basic(password: string): string {
  return `Basic ${Buffer.from(`me:${password}`).toString('base64')}`
}

/** The answers that another user gets. */
async function answersToNobody(questions: [url: string, authorization: string | null][]): Promise<string[]> {
  const code = `const answers = []
for (const [url, authorization] of JSON.parse(process.argv[1])) {
  const answer = await fetch(url, { headers: authorization === null ? {} : { authorization } })
  answers.push(answer.status + ' ' + (await answer.text()))
}
console.log(JSON.stringify(answers))`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, JSON.stringify(questions)], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    env: {},
  })
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  await once(child, 'close')
  return JSON.parse(out)
}

async function tokenOf({ port }: PageStage): Promise<string> {
  const { text } = await ask({ port })
  return /name="token" value="([\w-]{43})"/.exec(text)![1]!
}

it('other sites get nothing: by no other name, in no frame, with no form, whatever token they have', async () => {
  const stage = await setPageStage()
  const { port } = stage
  const daemon = await stage.run(daemonHere)
  for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.nip.io'])
    expect(await ask({ port, headers: { host } })).toMatchObject({ status: 421 })
  for (const host of ['127.0.0.1@evil.example', '127.0.0.1/x'])
    expect(await ask({ port, headers: { host } })).toMatchObject({ status: 400 })
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
    expect(await ask({ port, headers: { host } })).toMatchObject({ status: 200 })
  // What a proxy of the same user brings is asked by anybody.
  for (const name of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'])
    for (const [path, status] of [
      ['/', 403],
      ['/enter', 401],
      ['/now', 401],
    ] as const)
      expect(await ask({ port, path, headers: { [name]: '203.0.113.7' } })).toMatchObject({ status })
  // The key's file is written again once there is room for it.
  const keyFile = join(stage.home, 'state/page.key')
  const key = readFileSync(keyFile, 'utf8')
  writeFileSync(keyFile, '')
  expect(await ask({ port, headers: { via: 'proxy' } })).toMatchObject({ status: 403 })
  expect(readFileSync(keyFile, 'utf8')).toBe(key)
  const asImage = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }
  for (const path of ['/', '/now', '/thumbnails/1'])
    expect(await ask({ port, path, headers: asImage })).toMatchObject({ status: 403 })

  const { headers } = await ask({ port })
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['content-security-policy']).not.toContain('unsafe')
  expect(headers['access-control-allow-origin']).toBeUndefined()

  const token = await tokenOf(stage)
  const post = (origin: string | null, body: string) =>
    ask({
      port,
      method: 'POST',
      path: '/commands/pause',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(origin !== null && { origin }),
      },
      body,
    })
  const own = `http://127.0.0.1:${port}`
  for (const origin of [
    null,
    'null',
    'http://evil.example',
    `http://127.0.0.1:${port + 1}`,
    `http://localhost:${port}`,
  ])
    expect(await post(origin, `token=${token}&for=`)).toMatchObject({ status: 403 })
  for (const wrong of ['', 'token=', `token=${token.slice(1)}`, `token=${token}x`])
    expect(await post(own, `${wrong}&for=`)).toMatchObject({ status: 403 })
  expect(await ask({ port, path: '/commands/pause' })).toMatchObject({ status: 404 })
  expect(await stage.json('status')).toMatchObject({ paused: null })

  for (const form of [
    'for=2h',
    'for=1h&path=1',
    'for=1h&path=%22relative%22',
    'for=1h&path=%22%22',
    'for=constructor',
  ])
    expect(await post(own, `token=${token}&${form}`)).toMatchObject({ status: 400 })
  expect(await post(own, `token=${token}&for=${'x'.repeat(100_000)}`)).toMatchObject({ status: 413 })
  const bare = connect(port, '127.0.0.1')
  // The connection stays open: its user is known only as long as the connection is.
  bare.write(
    `POST /commands/pause HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nOrigin: ${own}\r\nConnection: close\r\n\r\n`,
  )
  expect(await text(bare)).toMatch(/^HTTP\/1.1 413 /)
  expect(await post(own, `token=${token}&for=`)).toMatchObject({ status: 303 })
  await expect.poll(async () => (await stage.json('status')).paused).toEqual({ until: null })
  expect(daemon.events()).toContainEqual(expect.objectContaining({ event: 'asked_for', what: 'pause' }))
  expect(await daemon.stop()).toBe(0)
})

it.skipIf(!isRoot && !process.env.CI)(
  'another user of this machine sees nothing without the key, which he can not read',
  async () => {
    const stage = await setPageStage()
    const daemon = await stage.run(daemonHere)
    const file = join(stage.home, 'state/page.key')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const key = readFileSync(file, 'utf8').trim()
    const questions: [path: string, authorization: string | null, answer: RegExp][] = [
      // The first page says where the key is. Only the pages behind it ask for a password.
      ['', null, /^403 <!doctype html>.*page\.key/s],
      ...['enter', 'now', 'thumbnails/1', 'nothing'].map(
        path => [path, null, /^401 This is the page of the user who runs albumd/] as [string, null, RegExp],
      ),
      ['', basic('guess'), /^401/],
      ['', 'Basic', /^401/],
      ['', basic(key), /^200 <!doctype html>/],
      // A service manager and Prometheus are other users.
      ['healthz', null, /^200 ok/],
      ['metrics', null, /^200 # HELP/],
    ]
    const answers = await answersToNobody(
      questions.map(([path, authorization]) => [`${stage.url}${path}`, authorization]),
    )
    for (const [index, [, , answer]] of questions.entries()) expect(answers[index]).toMatch(answer)
    expect(daemon.out()).not.toContain(key)
    expect(await daemon.stop()).toBe(0)
  },
  180_000,
)

it('its socket is for its user alone, and there without an address; what has the port is named, and backups go on', async () => {
  const first = await setPageStage()
  const daemon = await first.run(daemonHere)
  expect(statSync(first.socket).mode & 0o777).toBe(0o600)
  const second = await setPageStage({ config: { status_page: { listen: `127.0.0.1:${first.port}` } } })
  second.write('red.svg', '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"/>')
  const other = await daemonHere(second)
  await other.told('picture_uploaded')
  const warned = other.events().filter(({ event }) => event === 'warning')
  expect(warned).toMatchObject([
    { msg: expect.stringMatching(/^status_page.listen: 127.0.0.1:\d+ is taken;/) },
  ])
  // A busy daemon may not answer in time: then status leaves its page out.
  await expect
    .poll(async () => (await second.json('status')).page)
    .toMatchObject({ url: null, why: expect.stringContaining('is taken') })
  await expect.poll(async () => (await second.here('status', '-c', second.config)).out).toContain('is taken')
  const page = await ask({ socketPath: second.socket, headers: { host: 'photos.example.com' } })
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining('red.svg') })
  // A changed config moves it.
  second.configure({ status_page: { listen: '127.0.0.1:0' } })
  other.kill('SIGHUP')
  await other.told('config_taken')
  let url = ''
  const moved = async () => {
    url = (await second.json('status')).page.url
    return url
  }
  await expect.poll(moved).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
  expect(await (await fetch(url)).text()).toContain('red.svg')
  expect(await other.stop()).toBe(0)
  expect(await daemon.stop()).toBe(0)
})
