import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { filesOf } from '../../src/page/picgo/upload-form.ts'
import { type DaemonProcess, daemonHere, startDaemon } from '../e2e/stage/process.ts'
import { type Stage, type StageOptions, setStage, sha256 } from '../e2e/stage/stage.ts'
import { freePort } from '../free-port.ts'
import { NOBODY } from '../nobody.ts'
import { png } from '../pictures.ts'
import { ask } from './page-stage.ts'

const [one, other, third] = [png(3, 2).bytes, png(4, 2).bytes, png(5, 2).bytes]

async function setEditorStage(options: StageOptions = {}) {
  const port = await freePort()
  const picgo_server = { listen: `127.0.0.1:${port}`, folder: 'pictures/notes' }
  const stage = await setStage({ ...options, config: { picgo_server, ...options.config } })
  const post = async (body?: string | Uint8Array, headers: Record<string, string> = {}, path = '/upload') => {
    const answer = await ask({ port, method: 'POST', path, headers, ...(body && { body }) })
    return { status: answer.status, ...JSON.parse(answer.text) }
  }
  return {
    ...stage,
    port,
    post,
    list: (...list: string[]) => post(JSON.stringify({ list }), { 'content-type': 'application/json' }),
    async run(start: (stage: Stage) => DaemonProcess | Promise<DaemonProcess> = daemonHere) {
      const daemon = await start(stage)
      await expect.poll(() => ask({ port }).catch(() => null)).not.toBe(null)
      return daemon
    },
    elsewhere(name: string, bytes: Uint8Array | string) {
      const full = join(stage.home, 'elsewhere', name)
      mkdirSync(join(full, '..'), { recursive: true })
      writeFileSync(full, bytes)
      return full
    },
    notes: () => readdirSync(join(stage.pictures, 'notes')).sort(),
  }
}

async function fetched(url: string): Promise<string> {
  return sha256(new Uint8Array(await (await fetch(url)).arrayBuffer()))
}

/** A form of files, as Node's fetch, a browser and PicGo's plug-ins send it. */
async function formOf(field: string, files: readonly [name: string, bytes: Uint8Array, type?: string][]) {
  const form = new FormData()
  for (const [name, bytes, type = 'image/png'] of files)
    form.append(field, new Blob([Uint8Array.from(bytes)], { type }), name)
  const request = new Request('http://127.0.0.1/', { method: 'POST', body: form })
  return {
    body: Buffer.from(await request.arrayBuffer()),
    headers: { 'content-type': request.headers.get('content-type')! },
  }
}

function* chunksOf(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

/** The status that another user's request gets. */
async function statusForNobody(url: string): Promise<string> {
  const code = `fetch(process.argv[1], { method: 'POST' }).then(answer => process.stdout.write(String(answer.status)))`
  const args = ['--input-type=module', '-e', code, url]
  const options = { uid: NOBODY, gid: NOBODY, cwd: '/', env: {} }
  return (await promisify(execFile)(process.execPath, args, options)).stdout
}

describe("PicGo's interface", () => {
  it('puts the pictures of a list into its folder, and answers their addresses in order', async () => {
    const stage = await setEditorStage()
    const daemon = await stage.run()
    expect(await stage.post(undefined, {}, '/heartbeat')).toEqual({
      status: 200,
      success: true,
      result: 'alive',
    })
    const [b, a] = [stage.elsewhere('b.png', one), stage.elsewhere('a.png', other)]
    const first = await stage.list(b, a)
    expect(first).toMatchObject({
      status: 200,
      success: true,
      fullResult: [
        { fileName: 'b.png', origin: b },
        { fileName: 'a.png', origin: a },
      ],
    })
    expect(first.message).toBeUndefined()
    expect(await Promise.all(first.result.map(fetched))).toEqual([sha256(one), sha256(other)])
    // The same bytes have the same address; another picture of the name replaces none.
    const again = await stage.list(a, stage.elsewhere('c/b.png', third), a)
    expect(again.result).toHaveLength(3)
    expect([again.result[0], again.result[2]]).toEqual([first.result[1], first.result[1]])
    expect(await fetched(again.result[1])).toBe(sha256(third))
    expect(stage.notes()).toEqual(['a.png', 'b-1.png', 'b.png'])
    expect(await stage.paths()).toEqual(['Photos/notes/a.png', 'Photos/notes/b-1.png', 'Photos/notes/b.png'])
    expect(await daemon.stop()).toBe(0)
  })

  it('takes the files of a form, whatever their field is called', async () => {
    const stage = await setEditorStage()
    const daemon = await stage.run()
    const large = png(300, 200).bytes
    const { body, headers } = await formOf('files', [
      ['image.png', one],
      ['/home/me/vault/image.png', large],
      ['blob', other],
    ])
    const answer = await stage.post(body, headers)
    expect(await Promise.all(answer.result.map(fetched))).toEqual([one, large, other].map(sha256))
    expect(stage.notes()).toEqual(['blob.png', 'image-1.png', 'image.png'])
    const listed = await formOf('list', [['image.png', one]])
    expect((await stage.post(listed.body, listed.headers)).result).toEqual([answer.result[0]])
    // One that breaks off leaves nothing.
    const cut = body.subarray(0, body.length - 200)
    expect(await stage.post(cut, headers)).toMatchObject({ success: false })
    const socket = connect(stage.port, '127.0.0.1')
    socket.write(
      `POST /upload HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`,
    )
    socket.write(body.subarray(0, 200))
    await expect.poll(() => stage.notes()).toHaveLength(4)
    socket.destroy()
    await expect.poll(() => stage.notes()).toEqual(['blob.png', 'image-1.png', 'image.png'])
    expect(await daemon.stop()).toBe(0)
  })

  it('reads a form to its end although a file of it is given up in the middle', async () => {
    const { body, headers } = await formOf('files', [
      ['large.png', new Uint8Array(1_000_000)],
      ['b.png', one],
    ])
    const incoming = Object.assign(Readable.from(chunksOf(body)), { headers }) as unknown as IncomingMessage
    const taken = await filesOf(incoming, async (origin, find) => {
      for await (const _ of (await find()).bytes) break
      return { origin, why: 'no room' }
    })
    expect(taken.map(({ origin }) => origin)).toEqual(['large.png', 'b.png'])
  })

  it('sends the others when one can not be had, and says why', async () => {
    const stage = await setEditorStage({ mirror: { ignore: ['secret*'] } })
    const daemon = await stage.run()
    const plain = stage.elsewhere('a.txt', 'text')
    const secret = stage.elsewhere('secret.png', one)
    const broken = stage.elsewhere('broken.png', 'no picture')
    const good = stage.elsewhere('good.png', other)
    const gone = join(stage.home, 'gone.png')
    const bad = [plain, secret, broken, gone, 'relative.png', 'https://images.example.com/a.png']
    const answer = await stage.list(...bad, good)
    expect(answer).toMatchObject({ status: 200, success: true, fullResult: [{ origin: good }] })
    for (const path of ['a.txt', 'secret.png', ...bad.slice(2)]) expect(answer.message).toContain(path)
    expect(answer.message).toContain('albumd fetches no addresses')
    expect((await stage.list(`data:image/png;base64,${'A'.repeat(10_000)}`)).message.length).toBeLessThan(300)
    expect(await stage.list(gone)).toMatchObject({ status: 200, success: false, result: [] })
    await stage.here('pause')
    const later = [stage.elsewhere('later.png', third), stage.elsewhere('last.png', one)]
    const paused = await stage.list(...later)
    expect(paused).toMatchObject({ success: false, message: expect.stringContaining(later.join(', ')) })
    // What is no picture by its bytes is not kept, and what holds for several is said once.
    expect(paused.message.match(/paused/g)).toHaveLength(1)
    expect(paused.message).toContain(`saved in ${join(stage.pictures, 'notes')}. `)
    expect(stage.notes()).toEqual(['good.png', 'last.png', 'later.png'])
    expect(await daemon.stop()).toBe(0)
  })

  it('does nothing for a page of another site', async () => {
    const stage = await setEditorStage()
    const daemon = await stage.run()
    const path = stage.elsewhere('a.png', one)
    const body = JSON.stringify({ list: [path] })
    const json = { 'content-type': 'application/json' }
    for (const host of ['evil.example', `evil.example:${stage.port}`, '127.0.0.1.nip.io'])
      expect(await stage.post(body, { ...json, host })).toMatchObject({ status: 421, success: false })
    for (const from of [
      { origin: 'https://evil.example' },
      { origin: 'http://127.0.0.1.nip.io' },
      { origin: 'https://localhost.evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ] as Record<string, string>[]) {
      expect(await stage.post(body, { ...json, ...from })).toMatchObject({ status: 403, success: false })
      const form = await formOf('files', [['a.png', one]])
      expect(await stage.post(form.body, { ...form.headers, ...from })).toMatchObject({ status: 403 })
      expect(await stage.post(undefined, from)).toMatchObject({ status: 403 })
    }
    // A browser sends JSON from another port only after a preflight.
    for (const from of [
      { origin: 'http://127.0.0.1:6806' },
      { origin: `http://127.0.0.1:${stage.port}` },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      const form = await formOf('files', [['a.png', one]])
      expect(await stage.post(form.body, { ...form.headers, ...from })).toMatchObject({ status: 403 })
      expect(await stage.post(body, { 'content-type': 'text/plain', ...from })).toMatchObject({ status: 403 })
      expect(await stage.post(undefined, from)).toMatchObject({ status: 403 })
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      expect(await stage.post(body, { 'content-type': type })).toMatchObject({ status: 415 })
    for (const wrong of ['no json', '[]', '{"list": "a.png"}', '{"list": [1]}'])
      expect(await stage.post(wrong, json)).toMatchObject({ status: 400 })
    expect(await stage.post(`{"list": ["${'x'.repeat(2 ** 20)}"]}`, json)).toMatchObject({ status: 413 })
    for (const origin of ['https://evil.example', 'http://127.0.0.1:6806', 'app://obsidian.md']) {
      const preflight = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      }
      const question = { port: stage.port, method: 'OPTIONS', path: '/upload', headers: preflight }
      const { status, headers } = await ask(question)
      expect(status).toBeGreaterThanOrEqual(403)
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
    expect(readdirSync(stage.pictures)).toEqual([])
    // The windows of Obsidian and of SiYuan are no sites.
    for (const from of [{ origin: 'app://obsidian.md' }, { 'sec-fetch-site': 'same-site' }])
      expect(await stage.post(body, { ...json, ...from })).toMatchObject({ success: true })
    expect(await daemon.stop()).toBe(0)
  })

  it('serves whom albumd does not know only with the key', async () => {
    const stage = await setEditorStage()
    const daemon = await stage.run()
    const body = JSON.stringify({ list: [stage.elsewhere('a.png', one)] })
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7' }
    const key = readFileSync(join(stage.home, 'state/page.key'), 'utf8').trim()
    for (const query of ['', '?key=', `?key=${key.slice(1)}`])
      expect(await stage.post(body, headers, `/upload${query}`)).toMatchObject({
        status: 401,
        success: false,
      })
    expect(readdirSync(stage.pictures)).toEqual([])
    expect(await stage.post(body, headers, `/upload?key=${key}`)).toMatchObject({ success: true })
    if (process.getuid?.() === 0)
      for (const [query, status] of [
        ['', 401],
        [`?key=${key}`, 200],
      ])
        expect(await statusForNobody(`http://127.0.0.1:${stage.port}/heartbeat${query}`)).toBe(`${status}`)
    expect(daemon.out()).not.toContain(key)
    expect(await daemon.stop()).toBe(0)
  })

  it('takes the clipboard for an empty body and an empty list', async () => {
    const stage = await setEditorStage()
    const bin = join(stage.home, 'bin')
    mkdirSync(bin)
    writeFileSync(join(stage.home, 'clipboard'), one)
    for (const [tool, argument] of [
      ['wl-paste', '--type'],
      ['xclip', '-out'],
    ] as const) {
      const script = `#!/bin/sh\ncase " $* " in *" ${argument} "*) exec cat '${stage.home}/clipboard';; esac\nexit 1\n`
      writeFileSync(join(bin, tool), script)
      chmodSync(join(bin, tool), 0o755)
    }
    const run = (env: NodeJS.ProcessEnv) =>
      stage.run(stage =>
        startDaemon(stage, [], {
          PATH: `${bin}:${process.env.PATH}`,
          DISPLAY: '',
          WAYLAND_DISPLAY: '',
          ...env,
        }),
      )
    const wayland = await run({ WAYLAND_DISPLAY: 'wayland-0' })
    const first = await stage.post()
    // As curl asks: with neither a length nor a body.
    const bare = connect(stage.port, '127.0.0.1')
    bare.write('POST /upload HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
    expect(await text(bare)).toContain(first.result[0])
    expect(await fetched(first.result[0])).toBe(sha256(one))
    expect(await stage.list()).toMatchObject({ success: true, result: first.result })
    writeFileSync(join(stage.home, 'clipboard'), '')
    expect(await stage.list()).toMatchObject({ success: false })
    expect(await wayland.stop()).toBe(0)

    writeFileSync(join(stage.home, 'clipboard'), other)
    const x11 = await run({ DISPLAY: ':0' })
    expect(await fetched((await stage.post()).result[0])).toBe(sha256(other))
    for (const [says, told] of [
      ['Error: target image/png not available', 'holds no picture'],
      ["Error: Can't open display: :9", "xclip says: Error: Can't open display: :9"],
    ] as const) {
      writeFileSync(join(bin, 'xclip'), `#!/bin/sh\necho "${says}" >&2\nexit 1\n`)
      expect((await stage.post()).message).toBe(`clipboard: ${told}`)
    }
    expect(await x11.stop()).toBe(0)
    const none = await run({})
    expect(await stage.post()).toMatchObject({ status: 200, success: false, result: [] })
    expect(await none.stop()).toBe(0)
    expect(stage.notes()).toHaveLength(2)
  })

  it('has its address in status, or says what has the port', async () => {
    const stage = await setEditorStage()
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(stage.port, '127.0.0.1', resolve))
    const daemon = await daemonHere(stage)
    await daemon.told('warning')
    const status = async () => (await stage.here('status')).out
    await expect.poll(status).toMatch(/^editors picgo_server\.listen: .* is taken/m)
    const { findings } = JSON.parse((await stage.here('doctor', '--json')).out)
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'picgo_server',
        status: 'warn',
        message: expect.stringContaining('taken'),
      }),
    )
    await new Promise(resolve => taken.close(resolve))
    stage.configure({ picgo_server: { folder: 'pictures/notes', listen: `127.0.0.1:${await freePort()}` } })
    daemon.kill('SIGHUP')
    await expect.poll(status).toMatch(/^editors http:\/\/127\.0\.0\.1:\d+\/$/m)
    expect(await daemon.stop()).toBe(0)
  })

  it('listens only while the config names a folder', async () => {
    const stage = await setEditorStage()
    const { port } = stage
    const daemon = await stage.run()
    stage.configure({ picgo_server: {} })
    daemon.kill('SIGHUP')
    await expect.poll(() => ask({ port }).catch(({ code }) => code)).toBe('ECONNREFUSED')
    stage.configure({})
    daemon.kill('SIGHUP')
    await expect.poll(() => ask({ port }).catch(({ code }) => code)).toMatchObject({ status: 404 })
    expect(await daemon.stop()).toBe(0)
  })
})
