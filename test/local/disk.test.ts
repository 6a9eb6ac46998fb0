import { execFileSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../src/local/disk.ts'
import { plant, planted, tempFolder } from '../temp-folder.ts'

describe('realDisk', () => {
  it('tells files, folders, links and special files apart', () => {
    const root = planted({ 'a.png': 'a', 'b/': '' })
    symlinkSync('a.png', `${root}/c.png`)
    execFileSync('mkfifo', [`${root}/d.png`])
    const entries = realDisk.readFolder(root).sort((one, other) => (one.name < other.name ? -1 : 1))
    expect(entries).toEqual([
      { name: 'a.png', validUtf8: true, kind: 'file' },
      { name: 'b', validUtf8: true, kind: 'folder' },
      { name: 'c.png', validUtf8: true, kind: 'link' },
      { name: 'd.png', validUtf8: true, kind: 'special' },
    ])
    expect(entries.map(({ name }) => realDisk.lstat(`${root}/${name}`).kind)).toEqual(
      entries.map(({ kind }) => kind),
    )
  })

  it('does not read through a symbolic link to a folder', () => {
    const root = planted({ 'real/a.png': 'a' })
    symlinkSync('real', `${root}/link`)
    expect(() => realDisk.readFolder(`${root}/link`)).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
  })

  it('says ENOENT of what is not there and ENOTDIR of a file', () => {
    const root = planted({ a: 'a' })
    expect(() => realDisk.readFolder(`${root}/b`)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
    expect(() => realDisk.readFolder(`${root}/a`)).toThrow(expect.objectContaining({ code: 'ENOTDIR' }))
    expect(() => realDisk.lstat(`${root}/b`)).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })

  it.runIf(process.platform === 'linux')('writes the bytes of a name that are not UTF-8 as \\xNN', () => {
    const root = tempFolder()
    const name = (...parts: (string | number)[]) =>
      Buffer.concat([
        Buffer.from(`${root}/`),
        ...parts.map(part => Buffer.from(typeof part === 'string' ? part : [part])),
      ])
    writeFileSync(name('caf', 0xe9, '.png'), 'a')
    writeFileSync(name('é', 0xff, '€', 0xc3, '😀.png'), 'a')
    writeFileSync(name('\u{FFFD}.png'), 'a')
    writeFileSync(name('a\\xff.png'), 'a')
    const entries = realDisk.readFolder(root).map(({ name, validUtf8 }) => [name, validUtf8])
    expect(Object.fromEntries(entries)).toEqual({
      'caf\\xe9.png': false,
      'é\\xff€\\xc3😀.png': false,
      '\u{FFFD}.png': true,
      'a\\xff.png': true,
    })
  })

  it('gives times in whole microseconds, and the inode', () => {
    const root = planted({ 'a.png': '12345' })
    utimesSync(`${root}/a.png`, 1, 1_700_000_000.123456)
    linkSync(`${root}/a.png`, `${root}/b.png`)
    const stat = realDisk.lstat(`${root}/a.png`)
    const exact = lstatSync(`${root}/a.png`, { bigint: true })
    expect(stat.size).toBe(5)
    expect(Math.abs(stat.mtime - 1_700_000_000_123_456)).toBeLessThanOrEqual(1)
    expect(Math.abs(stat.ctime - Number(exact.ctimeNs / 1000n))).toBeLessThanOrEqual(1)
    expect(Number.isInteger(stat.mtime) && Number.isInteger(stat.ctime)).toBe(true)
    expect(realDisk.lstat(`${root}/b.png`).ino).toBe(stat.ino)
  })

  it('reads a text of 1 MiB and refuses a larger one', () => {
    const root = tempFolder()
    const text = 'a'.repeat(2 ** 20)
    plant(root, { fits: text, large: `${text}a`, none: '' })
    expect(realDisk.readText(`${root}/fits`)).toBe(text)
    expect(realDisk.readText(`${root}/none`)).toBe('')
    expect(() => realDisk.readText(`${root}/large`)).toThrow(expect.objectContaining({ code: 'EFBIG' }))
  })

  it('refuses a text that is not UTF-8, because its rules would hide nothing', () => {
    const root = tempFolder()
    const rules = 'Secret/\r\n'
    plant(root, { utf8: `\u{FEFF}${rules}`, mark: '', wide: '', latin: '' })
    writeFileSync(`${root}/mark`, Buffer.from(`\u{FEFF}${rules}`, 'utf16le'))
    writeFileSync(`${root}/wide`, Buffer.from(rules, 'utf16le'))
    writeFileSync(`${root}/latin`, Buffer.from('Büro/\n', 'latin1'))
    expect(realDisk.readText(`${root}/utf8`)).toContain(rules)
    for (const name of ['mark', 'wide', 'latin'])
      expect(() => realDisk.readText(`${root}/${name}`)).toThrow(expect.objectContaining({ code: 'EILSEQ' }))
  })

  it('reads no text through a symbolic link, from a folder or from a named pipe', () => {
    const root = planted({ text: '*.tmp' })
    symlinkSync('text', `${root}/link`)
    mkdirSync(`${root}/folder`)
    execFileSync('mkfifo', [`${root}/pipe`])
    expect(() => realDisk.readText(`${root}/link`)).toThrow(expect.objectContaining({ code: 'ELOOP' }))
    expect(() => realDisk.readText(`${root}/folder`)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
    expect(() => realDisk.readText(`${root}/pipe`)).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })
})
