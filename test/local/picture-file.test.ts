import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openPicture, whyNoPicture } from '../../src/local/picture-file.ts'
import { inWords } from '../../src/words/reasons.ts'
import { newerTime } from '../newer-time.ts'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'

const changed = () => new Error('changed underway')
const LARGE = 3 * 2 ** 20

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

/** A file that is read in chunks: a picture with bytes behind its end. */
function plantLarge(root: string): Buffer {
  const bytes = Buffer.concat([png(4, 3).bytes, Buffer.alloc(LARGE, 7)])
  writeFileSync(join(root, 'large.png'), bytes)
  return bytes
}

describe('a picture file', () => {
  it('tells what was read: bytes, hash, type and dimensions', async () => {
    const root = tempFolder()
    const { bytes } = png(4, 3)
    writeFileSync(join(root, 'a.png'), bytes)
    const picture = await openPicture(root, 'a.png', { changed })
    expect(picture.hash).toEqual(createHash('sha256').update(bytes).digest())
    expect(picture.memory!.bytes).toEqual(bytes)
    expect(picture.picture).toMatchObject({ mime: 'image/png', width: 4, height: 3 })
    expect(picture.look.size).toBe(bytes.length)
    picture.close()
  })

  it('tells when it was made, and whether it was written to or renamed last', async () => {
    const root = tempFolder()
    const { bytes } = png(4, 3)
    const path = join(root, 'a.png')
    const look = async (name: string) => {
      const { look, bornAt, close } = await openPicture(root, name, { changed })
      await close()
      return { ...look, bornAt }
    }
    writeFileSync(path, bytes)
    const made = await look('a.png')
    expect(made.bornAt).toBe(Math.round(lstatSync(path).birthtimeMs * 1000))
    await newerTime()
    writeFileSync(path, bytes, { flag: 'r+' })
    const written = await look('a.png')
    expect(written.bornAt).toBe(made.bornAt)
    expect(written.ctime).toBeGreaterThan(made.ctime)
    expect(written.mtime).toBe(written.ctime)
    await newerTime()
    renameSync(path, join(root, 'b.png'))
    const renamed = await look('b.png')
    expect(renamed.bornAt).toBe(made.bornAt)
    expect(renamed.mtime).toBeLessThan(renamed.ctime)
  })

  it('gives a large one in chunks, the same bytes that were hashed', async () => {
    const root = tempFolder()
    const bytes = plantLarge(root)
    const picture = await openPicture(root, 'large.png', { changed })
    expect(picture.memory).toBeNull()
    expect(picture.hash).toEqual(createHash('sha256').update(bytes).digest())
    expect((await drain(picture.chunks())).equals(bytes)).toBe(true)
    picture.close()
  })

  it.runIf(existsSync('/proc/self/io'))('reads a large one once to hash and to walk through it', async () => {
    const root = tempFolder()
    const { bytes } = png(2000, 1600)
    writeFileSync(join(root, 'a.png'), bytes)
    const readSoFar = () => Number(/^rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))![1])
    const before = readSoFar()
    const picture = await openPicture(root, 'a.png', { changed })
    expect(readSoFar() - before).toBeLessThan(1.2 * bytes.length)
    expect(picture).toMatchObject({ memory: null, verdict: { kind: 'closed', early: true } })
    picture.close()
  })

  it('says whether it is all there, in memory and in chunks', async () => {
    const root = tempFolder()
    const { bytes } = png(4, 3)
    const noise = png(2000, 1600).bytes
    const files = {
      'a.png': bytes,
      'b.png': bytes.subarray(0, -1),
      'c.png': noise,
      'd.png': noise.subarray(0, -1),
    }
    const verdicts: Record<string, string> = {}
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(root, name), content)
      const picture = await openPicture(root, name, { changed })
      verdicts[name] = `${picture.verdict.kind}, ${picture.memory ? 'in memory' : 'in chunks'}`
      picture.close()
    }
    expect(verdicts).toEqual({
      'a.png': 'closed, in memory',
      'b.png': 'missing, in memory',
      'c.png': 'closed, in chunks',
      'd.png': 'missing, in chunks',
    })
  })

  it.each([
    ['overwritten in place', (file: string) => void writeSync(openSync(file, 'r+'), 'x', 100)],
    ['overwritten in its last byte', (file: string) => void writeSync(openSync(file, 'r+'), 'x', LARGE)],
    ['cut short', (file: string) => truncateSync(file, LARGE - 1)],
  ])('withholds the last chunk of one that was %s after it was hashed', async (_, spoil) => {
    const root = tempFolder()
    const bytes = plantLarge(root)
    const picture = await openPicture(root, 'large.png', { changed })
    spoil(join(root, 'large.png'))
    let sent = 0
    const sending = (async () => {
      for await (const chunk of picture.chunks()) sent += chunk.length
    })()
    await expect(sending).rejects.toThrow('changed underway')
    expect(sent).toBeLessThan(bytes.length)
    picture.close()
  })

  it('goes on with the bytes that were hashed where the name now stands for another file, or more was appended', async () => {
    const root = tempFolder()
    const bytes = plantLarge(root)
    const picture = await openPicture(root, 'large.png', { changed })
    appendFileSync(join(root, 'large.png'), 'more')
    writeFileSync(join(root, 'other.png'), 'another file')
    renameSync(join(root, 'other.png'), join(root, 'large.png'))
    expect((await drain(picture.chunks())).equals(bytes)).toBe(true)
    picture.close()
  })

  it.each([
    ['is not there', 'VANISHED', () => {}],
    ['is a symbolic link', 'CHANGING', (file: string) => symlinkSync('/etc/hostname', file)],
    ['is a folder', 'CHANGING', (file: string) => mkdirSync(file)],
    ['is a named pipe that nobody writes to', 'CHANGING', (file: string) => execFileSync('mkfifo', [file])],
  ])('that %s is an outcome, not a crash', async (_, code, plant) => {
    const root = tempFolder()
    plant(join(root, 'a.png'))
    await expect(openPicture(root, 'a.png', { changed })).rejects.toMatchObject({
      name: 'PictureFileError',
      code,
    })
  })

  it.runIf(process.platform === 'linux')('is not reached through a folder that is a link', async () => {
    const root = tempFolder()
    const elsewhere = tempFolder()
    writeFileSync(join(elsewhere, 'a.png'), png().bytes)
    symlinkSync(elsewhere, join(root, 'b'))
    await expect(openPicture(root, 'b/a.png', { changed })).rejects.toMatchObject({ code: 'CHANGING' })
  })

  it('of the far past and the far future is read all the same', async () => {
    const root = tempFolder()
    for (const year of ['1971', '2200']) {
      writeFileSync(join(root, 'a.png'), png().bytes)
      utimesSync(join(root, 'a.png'), new Date(`${year}-01-01`), new Date(`${year}-01-01`))
      const picture = await openPicture(root, 'a.png', { changed })
      expect(picture.look.mtime).toBe(Date.parse(`${year}-01-01`) * 1000)
      picture.close()
    }
  })

  it.each([
    ['heic', /^The format of its bytes is HEIC, which the host does not take\. Convert it/],
    ['mif1', /^The format of its bytes is HEIC/],
    ['avif', /^The format of its bytes is AVIF/],
    ['mp42', /^File is no picture of a known format/],
  ])('of the brand %s that is called .jpg is called what it is', async (brand, words) => {
    const root = tempFolder()
    writeFileSync(join(root, 'a.jpg'), Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\0\0mif1${'x'.repeat(99)}`))
    const open = await openPicture(root, 'a.jpg', { changed })
    open.close()
    expect(open.picture).toBeNull()
    expect(inWords(whyNoPicture(open))).toMatch(words)
  })

  it('that is large is not read to its end when nobody waits for it any more', async () => {
    const root = tempFolder()
    plantLarge(root)
    const cut = new AbortController()
    cut.abort()
    await expect(openPicture(root, 'large.png', { changed, cut: cut.signal })).rejects.toMatchObject({
      code: 'CUT_OFF',
    })
  })

  it('does not take memory in proportion to its size', () => {
    const root = tempFolder()
    const measure = (megabytes: number) => {
      const file = join(root, 'sparse.png')
      writeFileSync(file, png().bytes)
      truncateSync(file, megabytes * 2 ** 20)
      const script = `
        import { openPicture } from ${JSON.stringify(join(import.meta.dirname, '../../src/local/picture-file.ts'))}
        const picture = await openPicture(${JSON.stringify(root)}, 'sparse.png', { changed: () => new Error('changed') })
        for await (const chunk of picture.chunks()) if (chunk.length === 0) throw new Error('empty')
        picture.close()
        process.stdout.write(String(process.resourceUsage().maxRSS))`
      return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script])) / 1024
    }
    // 600 MB more of picture; what the collector leaves lying about is far less.
    expect(measure(610) - measure(10)).toBeLessThan(150)
  })
})
