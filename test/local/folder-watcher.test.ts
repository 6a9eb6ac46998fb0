import fs from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EventQueue } from '../../src/local/event-queue.ts'
import { FolderWatcher } from '../../src/local/folder-watcher.ts'
import { planted } from '../temp-folder.ts'
import { Watched } from './watched.ts'

describe('FolderWatcher', () => {
  type Act = (watched: Watched) => void
  const acts: [string, Act][] = [
    ['a new file', w => fs.writeFileSync(w.in('a/new.jpg'), 'picture')],
    ['a new empty file', w => w.touch('a/new.jpg')],
    ['a file that was changed in place', w => fs.appendFileSync(w.in('a/old.jpg'), 'more')],
    ['a file that was deleted', w => fs.unlinkSync(w.in('a/old.jpg'))],
    ['a file that was renamed', w => fs.renameSync(w.in('a/old.jpg'), w.in('a/new.jpg'))],
    ['a file that was moved in', w => fs.renameSync(w.out('x.jpg'), w.in('a/x.jpg'))],
    ['a file that was moved out', w => fs.renameSync(w.in('a/old.jpg'), w.out('old.jpg'))],
    ['a file that was replaced by a rename', w => fs.renameSync(w.out('x.jpg'), w.in('a/old.jpg'))],
    ['a file that a hard link finished', w => fs.linkSync(w.out('x.jpg'), w.in('a/x.jpg'))],
    ['a file with a name that ends in ~', w => w.touch('a/x.jpg~')],
    ['an ignore file', w => w.touch('a/.albumdignore')],
    ['a file with a newline in its name', w => w.touch('a/one\ntwo.jpg')],
    ['a file with a name like an option', w => w.touch('a/-rf')],
    ['a file with a name like a pattern', w => w.touch('a/[a]{b}*?.jpg')],
    ['a file with a backslash in its name', w => w.touch('a/..\\x.jpg')],
    ['a file with the name of its folder', w => w.touch('a/a')],
    [
      'a file with a name that is not UTF-8',
      w => fs.writeFileSync(Buffer.concat([Buffer.from(w.in('a/')), Buffer.from([0xff, 0xfe])]), ''),
    ],
    [
      'mkdir -p and a file in it at once',
      w => {
        fs.mkdirSync(w.in('a/deep/deeper'), { recursive: true })
        w.touch('a/deep/deeper/x.jpg')
      },
    ],
    ['a folder that was moved in whole', w => fs.renameSync(w.out('album'), w.in('a/album'))],
    ['a folder that was moved out whole', w => fs.renameSync(w.in('a/unwatched'), w.out('unwatched'))],
    ['a folder that was deleted', w => fs.rmSync(w.in('a/unwatched'), { recursive: true })],
  ]
  it.each(acts)('tells of the right folder after %s', async (_, act) => {
    const watched = await Watched.open(['', 'a', 'b'], {
      'mirror/a/old.jpg': 'picture',
      'mirror/a/unwatched/x.jpg': 'picture',
      'outside/x.jpg': 'another picture',
      'outside/album/x.jpg': 'picture',
    })
    expect(await watched.told(() => act(watched), 'a')).toEqual(['a'])
  })

  const names = [
    'one\ntwo',
    '-rf',
    '[a]',
    '{b,c}',
    '*',
    '**',
    '!x',
    'a\\b',
    '..\\x',
    'x~',
    ' ',
    '\u{FFFD}',
    '%41',
  ]
  it.each(names)('watches a folder that is called %j, and those in it', async name => {
    const watched = await Watched.open(['', name, `${name}/in`])
    expect(await watched.told(() => watched.touch(`${name}/x.jpg`), name)).toEqual([name])
    expect(await watched.told(() => watched.touch(`${name}/in/x.jpg`), `${name}/in`)).toEqual([`${name}/in`])
  })

  it('calls the root by the empty path', async () => {
    const watched = await Watched.open(['', 'a'])
    expect(await watched.told(() => watched.touch('x.jpg'), '')).toEqual([''])
  })

  it('takes a root that is spelled in a roundabout way', async () => {
    const root = planted({ 'a/': '' })
    const { promise, resolve } = Promise.withResolvers<string>()
    const watcher = new FolderWatcher(`${root}/a/..//`, {
      queue: new EventQueue(),
      onStale: resolve,
      onLost() {},
    })
    onTestFinished(() => watcher.close())
    await watcher.watch(['', 'a'])
    fs.writeFileSync(join(root, 'a/x.jpg'), '')
    expect(await promise).toBe('a')
  })

  it('tells nothing after its end', async () => {
    const watched = await Watched.open(['', 'a'])
    await watched.watcher.close()
    // Another watcher shows when the event has come.
    const { promise, resolve } = Promise.withResolvers<string>()
    const other = new FolderWatcher(watched.root, { queue: new EventQueue(), onStale: resolve, onLost() {} })
    onTestFinished(() => other.close())
    await other.watch(['a'])
    watched.touch('a/x.jpg')
    expect(await promise).toBe('a')
    expect([...watched.stale]).toEqual([])
  })
})
