import {
  appendFileSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { UNLIMITED } from '../../host/choices.ts'
import { png, some } from '../../pictures.ts'
import { startDaemon } from '../stage/process.ts'
import { QUICK, type Stage, setStage, sha256 } from '../stage/stage.ts'

/** Each happens to what the ones before left. */
const EVENTS: Record<string, (hands: Hands) => void> = {
  'pictures lie there before the start'({ write }) {
    for (let n = 0; n < 3; n++) write(`pictures/first/${n}.png`)
    write('scans/a.png')
    // A root that is empty all at once is in doubt.
    for (const root of ['pictures', 'scans']) write(`${root}/stays.png`)
  },

  'a folder with folders is moved in whole'({ write, move }) {
    for (const path of ['1.png', 'b/2.png', 'b/c/3.png']) write(`beside/came/${path}`)
    move('beside/came', 'pictures/came')
  },

  'it is moved out whole'({ move }) {
    move('pictures/came', 'beside/came')
  },

  'a folder moves from one mirror to the other, and one of its pictures changes there'({ write, move }) {
    move('pictures/first', 'scans/below/first')
    write('scans/below/first/0.png')
  },

  'and back under another name'({ move }) {
    move('scans/below/first', 'pictures/second')
  },

  'mkdir -p with files at once'({ write }) {
    write('pictures/d1/d2/d3/d4/d5/deep.png')
    write('pictures/d1/d2/half way.png')
  },

  'atomic saves: written aside under names of every kind, then renamed over'({ write, move, at }) {
    for (const aside of ['0.png~', '0.png.tmp', '.0.png.swp', '#0.png#', '.goutputstream-X3Y', '4913']) {
      write(`pictures/second/${aside}`)
      move(`pictures/second/${aside}`, 'pictures/second/0.png')
    }
    // As Vim does: the old one is put aside first.
    move('pictures/second/1.png', 'pictures/second/1.png~')
    write('pictures/second/1.png')
    unlinkSync(at('pictures/second/1.png~'))
  },

  'a picture whose name ends in ~ or .tmp is no picture, one before such an end is'({ write }) {
    write('pictures/second/no.png~')
    write('pictures/second/yes~.png')
    write('pictures/second/also.tmp.png')
  },

  'finalised by a hard link'({ write, at }) {
    write('pictures/second/.part-1')
    linkSync(at('pictures/second/.part-1'), at('pictures/second/linked.png'))
    unlinkSync(at('pictures/second/.part-1'))
    // And one that stays, in the other mirror.
    linkSync(at('pictures/second/linked.png'), at('scans/twin.png'))
  },

  "rsync's temporary names, with the times that the source had"({ write, move, at }) {
    for (let n = 0; n < 5; n++) {
      const aside = `pictures/synced/.${n}.png.Xy${n}zA1`
      write(aside, png(9, 9, n).bytes)
      utimesSync(at(aside), 1_500_000_000 + n, 1_500_000_000 + n)
      move(aside, `pictures/synced/${n}.png`)
    }
  },

  'rsync again, over pictures of the same size and an older time'({ write, move, at }) {
    for (let n = 0; n < 5; n++) {
      const aside = `pictures/synced/.${n}.png.Qr${n}sB2`
      write(aside, png(9, 9, 100 + n).bytes)
      utimesSync(at(aside), 1_400_000_000 + n, 1_400_000_000 + n)
      move(aside, `pictures/synced/${n}.png`)
    }
  },

  'a folder swapped for another of the same name'({ write, move }) {
    for (let n = 0; n < 3; n++) write(`beside/swap/${n}.png`)
    write('beside/swap/below/only there.png')
    move('pictures/second', 'beside/old')
    move('beside/swap', 'pictures/second')
  },

  'and swapped back, its old one beside it'({ move }) {
    move('pictures/second', 'pictures/third')
    move('beside/old', 'pictures/second')
  },

  'two folders exchange their names'({ move }) {
    move('pictures/second', 'pictures/.aside')
    move('pictures/third', 'pictures/second')
    move('pictures/.aside', 'pictures/third')
  },

  'a folder deleted and made again at once, with other pictures'({ write, remove }) {
    remove('pictures/second')
    write('pictures/second/0.png')
    write('pictures/second/new.png')
  },

  'and again, and again'({ write, remove }) {
    for (let n = 0; n < 20; n++) {
      remove('pictures/second')
      write(`pictures/second/in/${n}.png`)
    }
  },

  'a picture replaced by a folder of its name'({ write, remove }) {
    remove('pictures/third/0.png')
    write('pictures/third/0.png/inside.png')
  },

  'and the folder by a picture'({ write, remove }) {
    remove('pictures/third/0.png')
    write('pictures/third/0.png')
  },

  'a picture made and gone before anybody looks, others that stay'({ write, remove }) {
    for (let n = 0; n < 10; n++) {
      write(`pictures/flash/${n}.png`)
      if (n % 2 === 0) remove(`pictures/flash/${n}.png`)
    }
  },

  'a picture written in place in pieces'({ at }) {
    const bytes = png(40, 40, 7).bytes
    const file = openSync(at('pictures/third/1.png'), 'w')
    for (let from = 0; from < bytes.length; from += 100) writeSync(file, bytes.subarray(from, from + 100))
    closeSync(file)
    writeFileSync(at('scans/a.png'), bytes.subarray(0, 50))
    appendFileSync(at('scans/a.png'), bytes.subarray(50))
  },

  'a link to a folder, and a folder in its place'({ write, at }) {
    symlinkSync(at('beside'), at('pictures/link'))
    unlinkSync(at('pictures/link'))
    write('pictures/link/real.png')
  },

  'a name in bytes that are not UTF-8, and then a good one'({ at }) {
    const bad = Buffer.concat([Buffer.from(at('pictures/link/')), Buffer.from([0xff]), Buffer.from('.png')])
    writeFileSync(bad, some())
    renameSync(bad, at('pictures/link/good.png'))
  },

  'a tree moved below itself and folders renamed on the way'({ move }) {
    move('pictures/d1/d2/d3', 'pictures/d1/up')
    move('pictures/d1', 'pictures/e1')
    move('pictures/e1/up', 'pictures/e1/d2/in')
  },

  // Late, because each look at the host is as long as it holds pictures.
  'an archive unpacked: 300 files in 30 folders at once'({ write }) {
    for (let n = 0; n < 300; n++) write(`pictures/zip/${n % 30}/${n}.png`)
  },

  'a chain of names: each picture takes the name of the next'({ move }) {
    move('pictures/zip/0/0.png', 'pictures/zip/0/.last')
    for (let n = 30; n < 300; n += 30) move(`pictures/zip/0/${n}.png`, `pictures/zip/0/${n - 30}.png`)
    move('pictures/zip/0/.last', 'pictures/zip/0/270.png')
  },

  'everything below a folder deleted, and the folder'({ remove }) {
    remove('pictures/zip')
    remove('pictures/e1')
  },
}

it('whatever happens to files and folders, a daemon brings both sides together, and nothing is there twice', {
  timeout: 600_000,
}, async () => {
  const stage = await setTwoMirrors()
  const hands = handsIn(stage)
  const daemon = startDaemon(stage)
  for (const [what, happen] of Object.entries(EVENTS)) {
    happen(hands)
    const local = localTrees(stage)
    await expect
      .poll(
        async () => {
          // Much of these small mirrors goes within the day, which is too many without a person's word.
          await stage.json('deletions', 'approve').catch(() => null)
          return hostTree(stage, Object.keys(local))
        },
        { message: what, interval: 500 },
      )
      .toEqual(local)
  }
  expect(await daemon.stop()).toBe(0)
  const before = await stage.listing()
  expect(await stage.json('sync')).toMatchObject({ exit_code: 0, uploaded: 0, deleted: 0 })
  expect(await stage.listing()).toEqual(before)
  expect(existsSync(hands.at('beside/came/b/c/3.png'))).toBe(true)
})

/** Folder → album of the two mirrors. */
const ALBUMS = { pictures: 'Photos', scans: 'Scans/Old' } as const

/** Two mirrors with one daemon over both, and a folder beside them that is none. */
async function setTwoMirrors(): Promise<Stage> {
  const stage = await setStage({ host: { requestsPerSecond: UNLIMITED } })
  for (const folder of ['scans', 'beside']) mkdirSync(join(stage.home, folder))
  stage.configure({
    host: { base_url: stage.baseUrl, api_key_file: 'api-key', requests_per_second: QUICK },
    mirrors: Object.entries(ALBUMS).map(([folder, album]) => ({ folder, album })),
    deletions: { grace: '300ms', grace_many: '0s', hold_min: 1_000_000 },
  })
  return stage
}

/** What the host should hold: an image's album path and name → SHA-256 of the file's bytes. */
function localTrees({ home }: Stage): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const [folder, album] of Object.entries(ALBUMS))
    for (const entry of readdirSync(join(home, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.png') || entry.name.startsWith('.')) continue
      const file = join(entry.parentPath, entry.name)
      tree[album + file.slice(join(home, folder).length)] = sha256(readFileSync(file))
    }
  return tree
}

/** The host's tree in the same shape, or its paths. Bytes are fetched only where every path is right: a move is an upload and
 * then a deletion, so that an image may be there twice for a moment. */
async function hostTree(stage: Stage, local: string[]): Promise<Record<string, string> | string[]> {
  const paths = await stage.paths()
  return paths.join('\n') === local.sort().join('\n') ? stage.delivered() : paths
}

/** What people and programs do with files below the stage's home. */
function handsIn({ home }: Stage) {
  const at = (path: string) => join(home, path)
  const folderOf = (path: string) => void mkdirSync(dirname(at(path)), { recursive: true })
  return {
    at,
    write(path: string, bytes: Buffer = some()): Buffer {
      folderOf(path)
      writeFileSync(at(path), bytes)
      return bytes
    },
    move(from: string, to: string) {
      folderOf(to)
      renameSync(at(from), at(to))
    },
    remove: (path: string) => rmSync(at(path), { recursive: true }),
  }
}

type Hands = ReturnType<typeof handsIn>

it('everything is looked at once after the process stood still', { timeout: 60_000 }, async () => {
  const stage = await setStage()
  stage.write('a.png', some())
  const daemon = startDaemon(stage)
  await daemon.told('picture_uploaded')
  const scans = () => daemon.events().filter(({ event }) => event === 'scan_finished').length
  const before = scans()
  daemon.kill('SIGSTOP')
  await pause(5000)
  daemon.kill('SIGCONT')
  await daemon.told('scan_finished', before + 1)
  expect(await daemon.stop()).toBe(0)
})
