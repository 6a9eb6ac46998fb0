import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { serveRaw } from '../../remote/serve.ts'
import { startEditProxy } from '../stage/edit-proxy.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage, sha256 } from '../stage/stage.ts'

/** Listens where the host is to be, and resets whoever comes: each connection is a request that cost something. */
async function nobodyHome() {
  let asked = 0
  const origin = await serveRaw(socket => {
    asked++
    socket.resetAndDestroy()
  })
  return { baseUrl: `${origin}/api/v1`, asked: () => asked }
}

/** Before the host at `baseUrl`, until it is opened. From the `patient`th time on it asks to stay away for a minute. */
async function shutDoor(baseUrl: string, patient: number) {
  let shut = true
  let turnedAway = 0
  const origin = await serveRaw(socket => {
    if (shut) {
      const headers = ++turnedAway < patient ? '' : 'retry-after: 60\r\n'
      const answer = `HTTP/1.1 503 Busy\r\n${headers}content-length: 0\r\nconnection: close\r\n\r\n`
      socket.once('data', () => socket.end(answer))
      return
    }
    const host = connect(Number(new URL(baseUrl).port), '127.0.0.1')
    socket.pipe(host).pipe(socket)
    host.on('error', () => socket.destroy())
  })
  const open = () => {
    shut = false
  }
  return { baseUrl: `${origin}/api/v1`, open, turnedAway: () => turnedAway }
}

it('a long wait that the host asks for is kept over a restart', async () => {
  const stage = await setStage()
  stage.write('red.png', png(3, 2).bytes)
  let asked = 0
  const base_url = await startEditProxy(stage.baseUrl, () => {
    asked++
    return { status: 429, code: 'RATE_LIMITED', retryAfter: 3600 }
  })
  stage.configure({ host: { base_url, api_key_file: 'api-key' } })
  expect(await stage.here('sync')).toMatchObject({ code: 3 })
  expect(asked).toBe(1)
  expect(await stage.here('sync')).toMatchObject({
    code: 3,
    err: expect.stringContaining('asks to wait until'),
  })
  expect(asked).toBe(1)
})

it('a daemon with a backlog whose host is away asks a few times and then seldom, and status says so', async () => {
  const stage = await setStage()
  for (let n = 0; n < 30; n++) stage.write(`${n}.png`, png(2 + n, 2).bytes)
  const away = await nobodyHome()
  stage.configure({ host: { base_url: away.baseUrl, api_key_file: 'api-key' } })
  const daemon = await daemonHere(stage)
  await expect.poll(daemon.out).toContain('HOST_UNREACHABLE')
  const known = away.asked()
  expect(known).toBeLessThanOrEqual(8)
  // Each of these wakes it up.
  const pending = async () => (await stage.status()).mirrors[0].pending_uploads
  for (let n = 30; n < 33; n++) {
    stage.write(`${n}.png`, png(2 + n, 2).bytes)
    await expect.poll(pending).toBe(n + 1)
  }
  // For the new picture, and for the look after it. How long is waited is chance's, and a busy machine takes its time.
  expect(away.asked()).toBeLessThanOrEqual(known + 6)
  const status = await stage.status()
  expect(status.mirrors).toMatchObject([{ pending_uploads: 33, failed: 0, uncertain: 0 }])
  expect(status.blocks).toMatchObject([{ code: 'HOST_UNREACHABLE' }])
  expect(await daemon.stop()).toBe(0)
})

it('a person who has mended the network does not wait: retry asks at once', async () => {
  const stage = await setStage()
  const door = await shutDoor(stage.baseUrl, 4)
  stage.write('a.png', png(3, 2).bytes)
  stage.configure({ host: { base_url: door.baseUrl, api_key_file: 'api-key' } })
  const daemon = await daemonHere(stage)
  const blocks = async () => (await stage.status()).blocks
  await expect.poll(blocks).toMatchObject([{ code: 'HOST_ANSWER' }])
  door.open()
  expect(await stage.here('retry', '--config', stage.config)).toMatchObject({ code: 0 })
  expect(Object.keys(await stage.delivered())).toEqual(['Photos/a.png'])
  expect(await daemon.stop()).toBe(0)
})

it('retry wakes a request that sleeps because the host asked to wait', async () => {
  const stage = await setStage()
  const door = await shutDoor(stage.baseUrl, 1)
  stage.write('a.png', png(3, 2).bytes)
  stage.configure({ host: { base_url: door.baseUrl, api_key_file: 'api-key' } })
  const daemon = await daemonHere(stage)
  await expect.poll(door.turnedAway).toBe(1)
  door.open()
  expect(await stage.here('retry', '--config', stage.config)).toMatchObject({ code: 0 })
  expect(Object.keys(await stage.delivered())).toEqual(['Photos/a.png'])
  expect(await daemon.stop()).toBe(0)
})

it('a bandwidth that is set is kept to, and everything arrives', async () => {
  const stage = await setStage()
  const picture = png(80, 60, 10).bytes
  stage.write('a.png', picture)
  stage.configure({ uploads: { bandwidth: '1KB/s' } })
  const daemon = await daemonHere(stage)
  const begun = await daemon.told('uploads_started')
  const sent = await daemon.told('picture_uploaded')
  const seconds = (Date.parse(String(sent.time)) - Date.parse(String(begun.time))) / 1000
  // It may run ahead of the rate by a quarter of a second.
  expect(seconds).toBeGreaterThan(picture.length / 1024 - 0.3)
  expect(await daemon.stop()).toBe(0)
  expect(await stage.delivered()).toEqual({ 'Photos/a.png': sha256(picture) })
})
