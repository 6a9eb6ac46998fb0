import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { printable } from '../../../src/words/text.ts'
import { some } from '../../pictures.ts'
import { configure, localTree, loseState, move, setting, syncs } from '../stage/fault-stage.ts'

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

describe('names of every kind', () => {
  it('of pictures and folders go up, are known again, move and go, and stand on one line each', async () => {
    const stage = await setting()
    configure(stage)
    for (const name of NAMES) {
      stage.write(`files/${name}.png`, some())
      stage.write(`${name}/in it.png`, some())
    }
    const first = await stage.sync()
    expect(first).toMatchObject({ code: 0, err: '' })
    for (const name of NAMES) expect(first.out).toContain(`uploaded ${printable(`files/${name}.png`)} `)
    expect(await stage.delivered()).toEqual(localTree(stage))
    const before = await stage.listing()
    const { out } = await stage.here('sync')
    expect(out).toContain('nothing to do')
    expect(await stage.here('audit', '--config', stage.config)).toMatchObject({
      code: 0,
      out: `${NAMES.length + 2} albums compared: no difference\n`,
    })

    loseState(stage)
    expect((await stage.here('adopt', '--config', stage.config)).code).toBe(0)
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ linked: 2 * NAMES.length, failed: 0 })
    expect((await stage.here('sync')).code).toBe(0)
    expect(await stage.listing()).toEqual(before)

    for (const name of NAMES) {
      move(stage, `files/${name}.png`, `moved/${name}.png`)
      move(stage, name, `moved/${name}`)
    }
    // What was only linked is given up with proof alone: the new images' addresses show how to fetch the old ones.
    expect((await stage.here('sync')).code).toBe(0)
    await stage.here('sync')
    expect(await stage.delivered()).toEqual(localTree(stage))

    // A folder that loses all it holds would be in doubt.
    stage.write('moved/stays.png', some())
    await syncs(stage)
    for (const name of NAMES) rmSync(join(stage.pictures, `moved/${name}.png`))
    const held = { deletions: { hold_above: '0%', hold_min: 0 } }
    configure(stage, held)
    expect((await stage.here('sync')).code).toBe(3)
    const { out: list, err } = await stage.here('deletions', 'list', '--all', '--config', stage.config)
    expect(err).toBe('')
    const lines = list.trimEnd().split('\n')
    // How many they are, what they wait for, and what one may do.
    expect(lines).toHaveLength(NAMES.length + 3)
    for (const name of NAMES)
      expect(
        lines.some(line => line.startsWith(`${printable(`moved/${name}.png`)} (`)),
        name,
      ).toBe(true)
    for (const name of ['line\nbreak', '-rf', 'back\\slash\\', 'caf\u00e9']) {
      const path = `${stage.pictures}/moved/${name}.png`
      const { code, out: told } = await stage.here(
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
    expect((await stage.here('deletions', 'approve', '--config', stage.config)).code).toBe(0)
    await syncs(stage)
  })

  it('of 255 bytes and alike up to the last go up, move and go', async () => {
    const stage = await setting()
    configure(stage)
    const long = (start: string, end: string) =>
      start.repeat((251 - Buffer.byteLength(end)) / Buffer.byteLength(start)) + end
    const names = [
      long('a', '1'),
      long('a', '2'),
      long('\u00e9', '1'),
      long('\u{1f600}', '1'),
      long('-', 'x'),
    ]
    for (const name of names) stage.write(`${name}/${name}.png`, some())
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
  const { out } = await stage.here('status', '--config', stage.config)
  expect(out).toMatch(/^failed +a \(3 pictures\): .*\(NAME_NOT_UTF8\)\n +\S+xc3\.png, \\xfe, \\xff\.png$/m)

  renameSync(at(0xff, ...png8), join(stage.pictures, 'a/named.png'))
  rmSync(at(0x0a, 0xc3, ...png8))
  rmSync(at(0xfe), { recursive: true })
  await syncs(stage)
})
