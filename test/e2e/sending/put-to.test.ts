import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'

const [one, other, third] = [png(3, 2).bytes, png(4, 2).bytes, png(5, 2).bytes]

async function fetched(url: string): Promise<string> {
  return sha256(new Uint8Array(await (await fetch(url)).arrayBuffer()))
}

/** A picture outside of the mirror. */
function elsewhere(stage: Stage, path: string, bytes: Uint8Array | string): string {
  const full = join(stage.home, 'elsewhere', path)
  mkdirSync(join(full, '..'), { recursive: true })
  writeFileSync(full, bytes)
  return full
}

async function put(stage: Stage, file: string, to = 'pictures/shots'): Promise<string> {
  const { code, out, err } = await stage.here('put', file, '--to', to)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return out.trimEnd()
}

const shots = (stage: Stage) => readdirSync(join(stage.pictures, 'shots')).sort()

describe('put --to', () => {
  it('copies pictures into a folder, each once, and gives a number to another of the same name', async () => {
    const stage = await setStage()
    const [a, b] = [elsewhere(stage, 'a.png', one), elsewhere(stage, 'b/a.png', other)]
    const [first, second] = [await put(stage, a), await put(stage, b)]
    expect(await fetched(first)).toBe(sha256(one))
    expect(await fetched(second)).toBe(sha256(other))
    expect(shots(stage)).toEqual(['a-1.png', 'a.png'])
    expect(await put(stage, b, join(stage.pictures, 'shots'))).toBe(second)
    expect(await put(stage, a)).toBe(first)
    const c = elsewhere(stage, 'c/a.png', third)
    const last = await put(stage, c)
    rmSync(join(stage.pictures, 'shots/a-1.png'))
    expect(await put(stage, c)).toBe(last)
    // What lies in the folder already is the same picture.
    expect(await put(stage, join(stage.pictures, 'shots/a.png'))).toBe(first)
    expect(shots(stage)).toEqual(['a-2.png', 'a.png'])
    expect(readFileSync(a)).toEqual(Buffer.from(one))
    expect(await stage.paths()).toHaveLength(3)
  })

  it('has the exit code and the words of put for a file that is still empty', async () => {
    const stage = await setStage()
    const empty = elsewhere(stage, 'a.png', '')
    expect(await stage.here('put', empty, '--to', 'pictures')).toEqual({
      code: 3,
      out: '',
      err: `albumd: ${empty}: File is empty, so perhaps it is still being written\n`,
    })
    expect(readdirSync(stage.pictures)).toEqual([])
  })

  it('leaves alone what lies there, a folder and a link too', async () => {
    const stage = await setStage()
    stage.write('shots/a.png', other)
    stage.write('shots/a-1.png/inner.png', other)
    symlinkSync('nowhere', join(stage.pictures, 'shots/a-2.png'))
    await put(stage, elsewhere(stage, 'a.png', one))
    expect(shots(stage)).toEqual(['a-1.png', 'a-2.png', 'a-3.png', 'a.png'])
    expect(readFileSync(join(stage.pictures, 'shots/a.png'))).toEqual(Buffer.from(other))
  })

  it('puts beside a daemon, several in the order of the arguments', async () => {
    const stage = await setStage()
    const daemon = await daemonHere(stage)
    await daemon.told('scan_finished')
    const files = [elsewhere(stage, 'b.png', one), elsewhere(stage, 'a.png', other)]
    const { code, out } = await stage.here('put', ...files, '--to', 'pictures')
    expect(code).toBe(0)
    expect(await Promise.all(out.trimEnd().split('\n').map(fetched))).toEqual([sha256(one), sha256(other)])
    expect(await daemon.stop()).toBe(0)
  })

  it('refuses what no scan would find, and leaves nothing of it', async () => {
    const stage = await setStage({ mirror: { ignore: ['private/', '*x.png'] } })
    stage.write('shots/kept.png', other)
    symlinkSync(join(stage.home, 'elsewhere'), join(stage.pictures, 'out'))
    const a = elsewhere(stage, 'a.png', one)
    const refused = async (file: string, to: string) => {
      expect(await stage.here('put', file, '--to', to)).toMatchObject({ code: 2, out: '' })
    }
    await refused(a, 'elsewhere')
    await refused(a, 'pictures/out')
    await refused(a, 'pictures/private')
    await refused(a, 'pictures/.hidden')
    await refused(a, '')
    await refused(a, 'pictures/shots/kept.png')
    for (const [name, bytes] of [
      ['ax.png', one],
      ['.a.png', one],
      ['a.txt', one],
      ['text.png', 'text'],
    ] as const)
      await refused(elsewhere(stage, name, bytes), 'pictures/shots')
    await refused(join(stage.home, 'elsewhere/missing.png'), 'pictures/shots')
    await refused(join(stage.home, 'elsewhere'), 'pictures/shots')
    await refused('-', 'pictures/shots')
    expect(shots(stage)).toEqual(['kept.png'])
    expect(await stage.listing()).toEqual([])
  })

  it('sends the others when one is refused', async () => {
    const stage = await setStage()
    const [text, a] = [elsewhere(stage, 'text.png', 'text'), elsewhere(stage, 'a.png', one)]
    const { code, out, err } = await stage.here('put', text, a, '--to', 'pictures/shots')
    expect({ code, sum: await fetched(out.trimEnd()) }).toEqual({ code: 3, sum: sha256(one) })
    expect(err).toContain(text)
    expect(shots(stage)).toEqual(['a.png'])
    const { pictures } = JSON.parse(
      (await stage.here('put', text, a, '--to', 'pictures/shots', '--json')).out,
    )
    expect(pictures).toMatchObject([
      { path: text, cdn_url: null, code: 'NOT_POSSIBLE' },
      { path: join(stage.pictures, 'shots/a.png'), cdn_url: out.trimEnd(), code: null },
    ])
  })

  it('writes nothing into the folder of a mirror that is another one than before', async () => {
    const stage = await setStage({ pictures: { 'kept.png': other } })
    renameSync(stage.pictures, `${stage.pictures}-away`)
    const a = elsewhere(stage, 'a.png', one)
    expect(await stage.here('put', a, '--to', 'pictures/shots')).toMatchObject({ code: 2, out: '' })
    mkdirSync(stage.pictures)
    expect(await stage.here('put', a, '--to', 'pictures/shots')).toMatchObject({ code: 2, out: '' })
    expect(readdirSync(stage.pictures)).toEqual([])
  })
})
