import fs from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { because } from '../../src/words/reasons.ts'
import { Watched } from './watched.ts'

describe('a watched folder', () => {
  it('that was deleted and made again at once is watched', async () => {
    const watched = await Watched.open(['', 'a'])
    const again = () => {
      fs.rmdirSync(watched.in('a'))
      fs.mkdirSync(watched.in('a'))
    }
    await watched.told(again, '', 'a')
    await watched.hears('a')
  })

  it('that was deleted and made again a hundred times, with files in it, is told after the last of it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    for (let n = 0; n < 100; n++) {
      fs.rmSync(watched.in('a'), { recursive: true })
      fs.mkdirSync(watched.in('a/b'), { recursive: true })
      watched.touch('a/b/x.jpg')
    }
    await watched.hears('a/b')
    await watched.hears('a')
  })

  it('is told for itself when its whole tree is deleted, however large', async () => {
    const below = Array.from({ length: 1500 }, (_, n) => `a/${n % 30}/${n}`)
    const folders = ['', 'a', ...Array.from({ length: 30 }, (_, n) => `a/${n}`), ...below]
    const watched = await Watched.open(folders)
    await watched.told(() => fs.rmSync(watched.in('a'), { recursive: true }), '', ...below)
    await watched.told(() => fs.mkdirSync(watched.in('a/7/7'), { recursive: true }), '', 'a/7/7')
    await watched.hears('a/7/7')
    expect(watched.losses).toEqual([])
  })

  it('that became a symbolic link is not watched at its end', async () => {
    const watched = await Watched.open(['', 'a'], { 'outside/x.jpg': 'picture' })
    const swap = () => {
      fs.rmdirSync(watched.in('a'))
      fs.symlinkSync(watched.outside, watched.in('a'))
    }
    await watched.told(swap, '', 'a')
    // The root's next event comes after whatever this one causes.
    fs.appendFileSync(watched.out('x.jpg'), 'more')
    expect(await watched.told(() => watched.touch('x.jpg'), '')).not.toContain('a')
    expect(watched.watcher.lost()).toEqual([])
  })

  it('is watched and told anew on request, with all below it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b', 'ab'])
    expect(await watched.told(() => watched.watcher.renew(['a']), 'a', 'a/b')).toEqual(['a', 'a/b'])
    await watched.hears('a/b')
  })

  it('that was deleted, and made again when that was known, is watched', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    await watched.told(() => fs.rmSync(watched.in('a'), { recursive: true }), '', 'a', 'a/b')
    await watched.told(() => fs.mkdirSync(watched.in('a/b'), { recursive: true }), '', 'a', 'a/b')
    await watched.hears('a')
    await watched.hears('a/b')
  })

  it('that was swapped for another is watched, with all below it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'], { 'outside/a/b/x.jpg': 'picture' })
    const swap = () => {
      fs.renameSync(watched.in('a'), watched.out('old'))
      fs.renameSync(watched.out('a'), watched.in('a'))
    }
    await watched.told(swap, '', 'a', 'a/b')
    await watched.hears('a')
    await watched.hears('a/b')
  })

  it('that took the place of another is told under its new name alone', async () => {
    const watched = await Watched.open(['', 'a', 'b'])
    const take = () => {
      fs.renameSync(watched.in('a'), watched.out('a'))
      fs.renameSync(watched.in('b'), watched.in('a'))
    }
    await watched.told(take, '', 'a', 'b')
    await watched.hears('a')
    expect(await watched.told(() => watched.touch('a/last.jpg'), 'a')).toEqual(['a'])
  })

  it('that was moved out and back is watched, with all below it', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    await watched.told(() => fs.renameSync(watched.in('a'), watched.out('a')), '', 'a', 'a/b')
    await watched.told(() => fs.renameSync(watched.out('a'), watched.in('a')), '', 'a', 'a/b')
    await watched.hears('a/b')
  })

  it('is watched again when the root was away', async () => {
    const watched = await Watched.open(['', 'a', 'a/b'])
    await watched.told(() => fs.renameSync(watched.root, watched.out('mirror')), '', 'a', 'a/b')
    await watched.told(() => fs.renameSync(watched.out('mirror'), watched.root), '', 'a', 'a/b')
    await watched.hears('a/b')
  })

  it('is watched when it is the root, made with the one above it while its watch opens', async () => {
    for (let turns = 0; turns < 16; turns++) {
      const watched = await Watched.open([])
      fs.rmSync(dirname(watched.root), { recursive: true })
      const opened = watched.watcher.watch([''])
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      fs.mkdirSync(watched.root, { recursive: true })
      await opened
      await watched.hears('')
    }
  })

  it('that was missing at first is told when it is made', async () => {
    const watched = await Watched.open([''])
    await watched.watcher.watch(['a', 'a/b'])
    await watched.told(() => fs.mkdirSync(watched.in('a/b'), { recursive: true }), 'a/b')
    await watched.hears('a/b')
  })

  it('is told no more once it, or a folder above it, is unwatched', async () => {
    const watched = await Watched.open(['', 'a', 'a/b', 'ab'])
    watched.watcher.unwatch(['a'])
    watched.touch('a/x.jpg')
    watched.touch('a/b/x.jpg')
    expect(await watched.told(() => watched.touch('ab/x.jpg'), 'ab')).toEqual(['ab'])
  })

  it('that was unwatched can be watched again', async () => {
    const watched = await Watched.open(['', 'a'])
    watched.watcher.unwatch(['a'])
    await watched.watcher.watch(['a'])
    expect(await watched.told(() => watched.touch('a/x.jpg'), 'a')).toEqual(['a'])
  })

  it('that can be watched is, when another can not, and that one is a loss each time it is named', async () => {
    const watched = await Watched.open([''], { 'mirror/a/': '' })
    const tooLong = 'x'.repeat(256)
    await watched.watcher.watch([tooLong, 'a'])
    await watched.watcher.watch([tooLong])
    const message = because('not_watched', { path: watched.in(tooLong), code: 'ENAMETOOLONG' })
    expect(watched.losses).toMatchObject([
      { code: 'WATCH_ERROR', message },
      { code: 'WATCH_ERROR', message },
    ])
    expect(watched.watcher.lost()).toEqual([tooLong])
    expect(await watched.told(() => watched.touch('a/x.jpg'), 'a')).toEqual(['a'])
  })
})
