import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printable } from '../../src/cli/wording.ts'
import { albumPathOf } from '../../src/sync/album-name.ts'
import { UNLIMITED } from '../host/choices.ts'
import { png } from '../pictures.ts'
import { startEditProxy } from './edit-proxy.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { type Stage, type StageOptions, setStage, sha256 } from './stage.ts'

/** Without slash, and not hidden: what Linux takes and somebody would stumble over. */
const NAMES = [
  'line\nbreak',
  'carriage\rreturn',
  'tab\tstop',
  'bell\u0007, escape\u001b[2J, delete\u007f',
  'next line\u0085, separators\u2028\u2029',
  'single\'s and "double"',
  'back\\slash\\',
  '\\xff',
  '-rf',
  '--config=x',
  '--',
  'dots..',
  ' leading and trailing ',
  '$(touch x) `touch y` ;&|*?[a]~',
  '%00%2e%2e%2f',
  '#fragment?query=1&album_id=2',
  'https:host.example',
  '<img src=x onerror=alert(1)>&amp;',
  "'; DROP TABLE files; --",
  '{"success": false}',
  'null',
  '__proto__',
  'constructor',
  'CON',
  '0',
  'caf\u00e9',
  'cafe\u0301',
  'CASE',
  'case',
  'Case',
  '\u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f3f3}\ufe0f',
  '\u05e2\u05d1\u05e8\u05d9\u05ea \u0639\u0631\u0628\u064a',
  'gnp\u202egpj',
  '\u{fffd}',
  '\ufeffmark',
  'zero\u200bwidth',
  '\ud7ff\ue000\uffff'.normalize(),
]

const RATES = { upload: 500, send: 500, list: 500, delete: 500, create_album: 500 }
let shade = 0

/** Another one each time. */
const some = () => png(3 + (shade % 7), 2 + Math.floor(shade / 7 / 251), shade++ % 251).bytes

function setting(options: StageOptions = {}): Promise<Stage> {
  return setStage({
    host: { requestsPerSecond: UNLIMITED },
    ...options,
    config: { deletions: { hold_min: 1_000_000 }, ...options.config },
  })
}

/** Short-lived credentials end all doubt soon: about what a lost state had sent, and about empty albums. */
function configure(stage: Stage, changes: object = {}, baseUrl = stage.baseUrl): void {
  stage.configure({
    host: {
      base_url: baseUrl,
      api_key_file: 'api-key',
      requests_per_second: RATES,
      credential_lifetime: '1s',
    },
    deletions: { hold_min: 1_000_000 },
    ...changes,
  })
}

function move(stage: Stage, from: string, to: string): void {
  mkdirSync(dirname(join(stage.pictures, to)), { recursive: true })
  renameSync(join(stage.pictures, from), join(stage.pictures, to))
}

function loseState({ home }: Stage): void {
  for (const name of readdirSync(join(home, 'state')))
    if (name.startsWith('albumd.db')) rmSync(join(home, 'state', name))
}

/** What the host should hold: an image's album path and name → SHA-256 of the file's bytes. */
function localTree({ pictures }: Stage): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const entry of readdirSync(pictures, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const album = albumPathOf('Photos', entry.parentPath.slice(pictures.length + 1))
    tree[[...album, entry.name].join('/')] = sha256(readFileSync(join(entry.parentPath, entry.name)))
  }
  return tree
}

/** One pass that leaves nothing over, and both sides are the same. */
async function syncs(stage: Stage): Promise<void> {
  expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
  expect(await stage.delivered()).toEqual(localTree(stage))
}

describe('names of every kind', () => {
  it('of pictures and folders go up, are known again, move and go, and stand on one line each', {
    timeout: 240_000,
  }, async () => {
    const stage = await setting()
    configure(stage)
    for (const name of NAMES) {
      stage.write(`files/${name}.png`, some())
      stage.write(`${name}/in it.png`, some())
    }
    await syncs(stage)
    const before = await stage.listing()
    const { out } = await stage.sync()
    expect(out).toContain('nothing to do')
    expect(await stage.albumd('audit', '--config', stage.config)).toMatchObject({
      code: 0,
      out: `${NAMES.length + 2} albums compared: nothing found\n`,
    })

    loseState(stage)
    expect((await stage.albumd('adopt', '--config', stage.config)).code).toBe(0)
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ linked: 2 * NAMES.length, failed: 0 })
    expect((await stage.sync()).code).toBe(0)
    expect(await stage.listing()).toEqual(before)

    for (const name of NAMES) {
      move(stage, `files/${name}.png`, `moved/${name}.png`)
      move(stage, name, `moved/${name}`)
    }
    // What was only linked is given up with proof alone: the new images' addresses show how to fetch the old ones.
    expect((await stage.sync()).code).toBe(0)
    await stage.sync()
    expect(await stage.delivered()).toEqual(localTree(stage))

    // A folder that loses all it holds would be in doubt.
    stage.write('moved/stays.png', some())
    await syncs(stage)
    for (const name of NAMES) rmSync(join(stage.pictures, `moved/${name}.png`))
    const held = { deletions: { hold_above: '0%', hold_min: 0 } }
    configure(stage, held)
    expect((await stage.sync()).code).toBe(3)
    const { out: list, err } = await stage.albumd('deletions', 'list', '--config', stage.config)
    expect(err).toBe('')
    const lines = list.trimEnd().split('\n')
    expect(lines).toHaveLength(NAMES.length + 1)
    for (const name of NAMES)
      expect(
        lines.some(line => line.startsWith(`${printable(`moved/${name}.png`)} (`)),
        name,
      ).toBe(true)
    for (const name of ['line\nbreak', '-rf', 'back\\slash\\', 'caf\u00e9']) {
      const path = `${stage.pictures}/moved/${name}.png`
      const { code, out: told } = await stage.albumd(
        'deletions',
        'approve',
        '--config',
        stage.config,
        '--',
        path,
      )
      expect(told.split('\n'), name).toHaveLength(4)
      expect(code).toBe(0)
    }
    expect((await stage.albumd('deletions', 'approve', '--config', stage.config)).code).toBe(0)
    await syncs(stage)
  })

  it('of 255 bytes and alike up to the last go up, move and go', async () => {
    const stage = await setting()
    configure(stage)
    const long = (start: string, end: string) =>
      start.repeat((250 - Buffer.byteLength(end)) / Buffer.byteLength(start)) + end
    const names = [
      long('a', '1'),
      long('a', '2'),
      long('\u00e9', '1'),
      long('\u{1f600}', '1'),
      long('-', 'x'),
    ]
    for (const name of names) stage.write(`${name}/${name}.jpeg`.replaceAll('.jpeg', '.png'), some())
    await syncs(stage)
    for (const name of names) move(stage, `${name}/${name}.png`, `${name}.png`)
    await syncs(stage)
  })
})

it('in bytes that are not UTF-8 are told, escaped, and nothing is guessed; a good name is mirrored', async () => {
  const stage = await setting()
  configure(stage)
  const at = (...bytes: number[]) => Buffer.concat([Buffer.from(`${stage.pictures}/a/`), Buffer.from(bytes)])
  const png8 = Buffer.from('.png')
  stage.write('a/good.png', some())
  // The text of the escape beside the bytes that are escaped.
  stage.write('a/\\xff.png', some())
  const bytes = some()
  writeFileSync(at(0xff, ...png8), bytes)
  writeFileSync(at(0x0a, 0xc3, ...png8), some())
  mkdirSync(at(0xfe))
  writeFileSync(at(0xfe, 0x2f, ...png8.subarray(1), ...png8), some())
  expect((await stage.sync()).code).toBe(3)
  expect(Object.keys(await stage.delivered()).sort()).toEqual(['Photos/a/\\xff.png', 'Photos/a/good.png'])
  const { failures, mirrors } = await stage.json('status')
  expect(failures).toMatchObject(
    ['a/\n\\xc3.png', 'a/\\xfe', 'a/\\xff.png'].map(path => ({ path, code: 'NAME_NOT_UTF8' })),
  )
  expect(mirrors[0]).toMatchObject({ synced: 2 })
  const { out } = await stage.albumd('status', '--config', stage.config)
  expect(out.split('\n').filter(line => line.includes('(NAME_NOT_UTF8)'))).toHaveLength(3)

  renameSync(at(0xff, ...png8), join(stage.pictures, 'a/named.png'))
  rmSync(at(0x0a, 0xc3, ...png8))
  rmSync(at(0xfe), { recursive: true })
  await syncs(stage)
})

describe('folders', () => {
  it('with names over 100 characters, or alike in their first 100, have albums of their own for good', async () => {
    const stage = await setting()
    configure(stage)
    const folders = [
      'a'.repeat(99),
      'a'.repeat(100),
      'a'.repeat(101),
      `${'a'.repeat(100)}b`,
      `${'a'.repeat(100)}c`,
      `${'\u00e9'.repeat(127)}`,
      `${'\u{1f600}'.repeat(60)}1`,
      `${'\u{1f600}'.repeat(60)}2`,
      // Looks like what one of the others is shortened to.
      'short~0123456789abcdef',
    ]
    for (const folder of folders) stage.write(`${folder}/${folder}/in it.png`, some())
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
    const albums = await stage.albums()
    expect(new Set(albums).size).toBe(1 + 2 * folders.length)
    expect(albums.every(album => album.split('/').every(name => [...name].length <= 100))).toBe(true)
    const before = await stage.listing()
    for (const folder of folders) stage.write(`${folder}/later.png`, some())
    expect((await stage.sync()).code).toBe(0)
    expect(await stage.albums()).toEqual(albums)
    loseState(stage)
    expect((await stage.sync()).code).toBe(0)
    expect(await stage.albums()).toEqual(albums)
    const after = await stage.listing()
    expect(after).toHaveLength(before.length + folders.length)
    expect(after).toEqual(expect.arrayContaining(before))
  })

  it('beyond the depth that the host has albums for share the deepest one, and each picture is its own', async () => {
    const stage = await setting()
    configure(stage)
    const folder = (depth: number) => Array.from({ length: depth }, (_, n) => n + 1).join('/')
    for (let depth = 1; depth <= 14; depth++) stage.write(`${folder(depth)}/at ${depth}.png`, some())
    // Of one name, in the same album.
    for (let depth = 11; depth <= 13; depth++) stage.write(`${folder(depth)}/twin.png`, png(depth, 2).bytes)
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
    const deepest = `Photos/${folder(9)}`
    const expected = [
      ...[1, 2, 3, 4, 5, 6, 7, 8].map(depth => `Photos/${folder(depth)}/at ${depth}.png`),
      ...[9, 10, 11, 12, 13, 14].map(depth => `${deepest}/at ${depth}.png`),
      ...Array<string>(3).fill(`${deepest}/twin.png`),
    ]
    const paths = async () => (await stage.listing()).map(line => line.slice(0, line.lastIndexOf(' ')))
    expect(await paths()).toEqual(expected.sort())
    const before = await stage.listing()
    expect((await stage.sync()).out).toContain('nothing to do')
    expect(await stage.albumd('audit', '--config', stage.config)).toMatchObject({ code: 0 })

    loseState(stage)
    // Any picture of the folders that share an album can be any other: an upload has to show how to fetch them first.
    await stage.sync()
    stage.write('shows.png', some())
    await stage.sync()
    expect((await stage.albumd('retry', '--config', stage.config)).code).toBe(0)
    expect((await stage.listing()).filter(line => !line.startsWith('Photos/shows.png'))).toEqual(before)

    move(stage, `${folder(14)}/at 14.png`, `${folder(12)}/at 14.png`)
    rmSync(join(stage.pictures, folder(13)), { recursive: true })
    expect((await stage.sync()).code).toBe(0)
    const gone = ['at 13.png', 'twin.png']
    const left = [...expected.sort(), 'Photos/shows.png']
    for (const name of gone) left.splice(left.indexOf(`${deepest}/${name}`), 1)
    expect(await paths()).toEqual(left)
  })
})

/** What another program does with the same key. */
async function makeAlbum(stage: Stage, name: string, parent_album: string | null = null): Promise<string> {
  const response = await fetch(`${stage.baseUrl}/create_album`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey(stage), 'content-type': 'application/json' },
    body: JSON.stringify({ name, parent_album }),
  })
  return ((await response.json()) as { data: { album: { id: string } } }).data.album.id
}

const apiKey = ({ home }: Stage) => readFileSync(join(home, 'api-key'), 'utf8')

const pathsOf = async (stage: Stage) =>
  (await stage.listing()).map(line => line.slice(0, line.lastIndexOf(' ')))

describe('a host', () => {
  it('that refuses names has the pictures in the album above, asks for nothing twice, and no pass fails', async () => {
    const stage = await setting()
    const refusals: string[] = []
    const baseUrl = await startEditProxy(stage.baseUrl, ({ path, body }) => {
      if (path !== '/create_album') return undefined
      if (body.name.trim() === '') {
        refusals.push(body.name)
        return { status: 400, code: 'MISSING_NAME' }
      }
      if (/[\u0000-\u001f]/.test(body.name)) {
        refusals.push(body.name)
        return { status: 400, code: 'VALIDATION_ERROR' }
      }
      return undefined
    })
    configure(stage, {}, baseUrl)
    for (const folder of [' ', '\u3000', 'a\nb', 'good'])
      stage.write(`${folder}/${folder.length} of it.png`, some())
    stage.write(' /deeper/in it.png', some())
    stage.write('a\nb/second of it.png', some())
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
    const expected = [
      'Photos/1 of it.png',
      'Photos/1 of it.png',
      'Photos/3 of it.png',
      'Photos/good/4 of it.png',
      'Photos/in it.png',
      'Photos/second of it.png',
    ]
    expect(await pathsOf(stage)).toEqual(expected)
    expect(refusals.sort()).toEqual([' ', 'a\nb', '\u3000'])
    expect((await stage.sync()).out).toContain('nothing to do')
    expect(refusals).toHaveLength(3)
    expect((await stage.albumd('audit', '--config', stage.config)).code).toBe(0)

    move(stage, ' ', 'blank')
    rmSync(join(stage.pictures, 'a\nb/second of it.png'))
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
    expect(await pathsOf(stage)).toEqual([
      'Photos/1 of it.png',
      'Photos/3 of it.png',
      'Photos/blank/1 of it.png',
      'Photos/blank/deeper/in it.png',
      'Photos/good/4 of it.png',
    ])
  })

  it('with a default album has what is in no album there, which is found out, said, and worked with', async () => {
    const stage = await setting()
    const inbox = await makeAlbum(stage, 'Inbox')
    let withoutAlbum = 0
    const baseUrl = await startEditProxy(stage.baseUrl, ({ path, body }) => {
      if (path === '/upload' && body.album_id === undefined) {
        withoutAlbum++
        body.album_id = inbox
      }
      return undefined
    })
    const mirrors = { mirrors: [{ folder: 'pictures', album: '' }] }
    configure(stage, mirrors, baseUrl)
    for (let n = 0; n < 6; n++) stage.write(`${n}.png`, some())
    stage.write('a/in it.png', some())
    const first = await stage.sync()
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toContain("pictures of the host's root go to the account's default album Inbox\n")
    const expected = [...[0, 1, 2, 3, 4, 5].map(n => `Inbox/${n}.png`), 'a/in it.png']
    expect(await pathsOf(stage)).toEqual(expected)
    // The first of them has shown where they go.
    expect(withoutAlbum).toBe(1)
    const before = await stage.listing()
    expect((await stage.albumd('audit', '--config', stage.config)).code).toBe(0)

    stage.write('0.png', some())
    renameSync(join(stage.pictures, '1.png'), join(stage.pictures, 'a/1.png'))
    rmSync(join(stage.pictures, '2.png'))
    expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
    const changed = [...[0, 3, 4, 5].map(n => `Inbox/${n}.png`), 'a/1.png', 'a/in it.png']
    expect(await pathsOf(stage)).toEqual(changed)
    expect((await stage.listing()).filter(line => before.includes(line))).toHaveLength(4)
    expect(withoutAlbum).toBe(1)

    const known = await stage.listing()
    loseState(stage)
    await stage.sync()
    await stage.sync()
    expect(await stage.listing()).toEqual(known)
  })

  it('with twin albums has them made no worse: of those the recorded one, else the fullest, else the oldest', async () => {
    const stage = await setting()
    configure(stage)
    const oldest = await makeAlbum(stage, 'Photos')
    await makeAlbum(stage, 'Photos')
    const full = await makeAlbum(stage, 'a', oldest)
    stage.write('a/first.png', some())
    stage.write('one.png', some())
    await stage.sync()
    const albums = ['Photos', 'Photos', 'Photos/a']
    expect(await stage.albums()).toEqual(albums)
    expect(await stage.listing()).toHaveLength(2)
    await makeAlbum(stage, 'a', oldest)
    stage.write('a/second.png', some())
    await stage.sync()
    const before = await stage.listing()
    loseState(stage)
    stage.write('a/third.png', some())
    await stage.sync()
    await stage.sync()
    expect(await stage.albums()).toEqual([...albums, 'Photos/a'])
    expect((await stage.listing()).filter(line => !line.startsWith('Photos/a/third.png '))).toEqual(before)
    const held = await fetch(`${stage.baseUrl}/list?album_id=${full}`, {
      headers: { 'x-api-key': apiKey(stage) },
    })
    const { data } = (await held.json()) as { data: { images: { name: string }[] } }
    expect(data.images.map(({ name }) => name).sort()).toEqual(['first.png', 'second.png', 'third.png'])
  })
})

it('a renamed folder goes up whole before the old one goes, albums and all', async () => {
  const stage = await setting()
  const proxy = await startFaultProxy(stage.baseUrl)
  configure(stage, {}, proxy.baseUrl)
  for (const path of ['old/1.png', 'old/2.png', 'old/below/deep/3.png', 'stays.png'])
    stage.write(path, some())
  await syncs(stage)
  const pauses = proxy.log.length
  move(stage, 'old', 'new')
  await syncs(stage)
  const kinds = proxy.log.slice(pauses).map(({ kind }) => kind)
  expect(kinds.filter(kind => kind === 'send')).toHaveLength(3)
  expect(kinds.lastIndexOf('send')).toBeLessThan(kinds.indexOf('delete'))
  // An album is deleted after two looks, a credential's life apart, the innermost first.
  await expect
    .poll(() => stage.sync().then(stage.albums), { timeout: 40_000, interval: 1500 })
    .toEqual(['Photos', 'Photos/new', 'Photos/new/below', 'Photos/new/below/deep'])
  await syncs(stage)
})
