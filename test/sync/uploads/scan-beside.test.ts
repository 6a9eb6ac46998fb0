import { cpSync, mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { lookAtFolder } from '../../../src/local/look.ts'
import { hostWith } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import type { News } from '../../../src/sync/pass-request.ts'
import { sha256 } from '../../e2e/stage/stage.ts'
import { png } from '../../pictures.ts'
import { imagesOn, lookingAt, openWorkshop, type Workshop } from '../workshop.ts'

const first = png(4, 4, 1).bytes
const second = png(4, 5, 2).bytes

const writesSlow = ({ write }: Workshop) => write('a/slow.png', first)

/** A pass that sends `slow.png`, which `before` has written, until `release` is called. What the pass asks to scan again is
 * in `stale`. */
async function withSlow(before: (workshop: Workshop) => unknown = writesSlow, lookAt = lookingAt(realDisk)) {
  const workshop = await openWorkshop()
  await before(workshop)
  const { promise: underWay, resolve: begins } = Promise.withResolvers<void>()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let isHeld = false
  const host = hostWith(workshop.host, {
    async requestUpload(request, signal) {
      if (request.file_name === 'bug.png') throw new Error('a bug')
      return workshop.host.requestUpload(request, signal)
    },
    async send(credential, picture, signal) {
      // A folder that is renamed meanwhile holds a second one.
      const isFirst = picture.fileName === 'slow.png' && !isHeld
      if (!isFirst) return workshop.host.send(credential, picture, signal)
      isHeld = true
      begins()
      await released
      return workshop.host.send(credential, picture, signal)
    },
  })
  const stale: string[] = []
  const news: News = { scan: null, add: (_, folders) => void stale.push(...folders) }
  const other = { ...workshop.mirror, folder: `${workshop.pictures}.other`, album: 'Other' }
  const mirrors = [workshop.mirror, other]
  const passing = workshop.pass({ host, lookAt }, 'mirror', news, mirrors)
  await underWay
  return {
    workshop,
    stale,
    release,
    passing,
    /** Scans everything beside the upload. */
    scan: () => news.scan!(() => 'everything'),
    async ends() {
      release()
      expect(await passing).toEqual({ stopped: [] })
      expect(news.scan).toBeNull()
    },
  }
}

const uploaded = ({ events }: Workshop) =>
  events.flatMap(emitted => (emitted.event === 'picture_uploaded' ? [emitted.path] : []))
const started = ({ events }: Workshop) =>
  events.flatMap(emitted => (emitted.event === 'uploads_started' ? [emitted.pictures] : []))
const until = (workshop: Workshop, path: string) => expect.poll(() => uploaded(workshop)).toContain(path)

function recordOf({ synced }: Workshop, path: string) {
  const [folder, name] = path.split('/')
  const row = synced.folders.at(1, folder!)
  return row && synced.files.at({ folder: row.id, name: name! })
}

describe('while a picture is sent slowly', () => {
  it.each(['a/new.png', 'b/new.png', 'new.png'])(
    'a scan finds %s, which takes a lane that is free',
    async path => {
      const { workshop, scan, stale, ends } = await withSlow()
      await scan()
      expect(started(workshop)).toEqual([1])
      workshop.write(path, second)
      await scan()
      await until(workshop, path)
      expect(uploaded(workshop)).toEqual([path])
      expect(started(workshop)).toEqual([1, 2])
      await ends()
      expect(uploaded(workshop)).toEqual([path, 'a/slow.png'])
      expect(stale).toEqual([])
      expect((await imagesOn(workshop)).sort()).toEqual(['new.png', 'slow.png'])
    },
  )

  it('what becomes of this picture is recorded after it was sent', async () => {
    const { workshop, scan, stale, ends } = await withSlow()
    workshop.write('a/slow.png', second)
    workshop.write('a/new.png', second)
    await scan()
    await until(workshop, 'a/new.png')
    expect(recordOf(workshop, 'a/slow.png')).toMatchObject({ state: 'pending', size: first.length })
    await ends()
    expect(stale).toEqual(['a'])
    const { synced } = workshop
    expect(synced.images.byHash(Buffer.from(sha256(first), 'hex'))).toHaveLength(1)
    await workshop.pass()
    const now = recordOf(workshop, 'a/slow.png')!
    expect(synced.images.byId(now.image!)!.hash.toString('hex')).toBe(sha256(second))
    expect(uploaded(workshop)).toEqual(['a/new.png', 'a/slow.png', 'a/slow.png'])
  })

  it('its image waits for its deletion where the picture is gone meanwhile', async () => {
    const { workshop, scan, stale, ends } = await withSlow()
    workshop.remove('a/slow.png')
    await scan()
    expect(recordOf(workshop, 'a/slow.png')).toMatchObject({ state: 'pending' })
    await ends()
    expect(stale).toEqual(['a'])
    expect(await imagesOn(workshop)).toEqual(['slow.png'])
    await workshop.pass()
    expect(await imagesOn(workshop)).toEqual([])
  })

  it('its folder stays recorded until it was sent, where the folder is renamed meanwhile', async () => {
    const { workshop, scan, stale, ends } = await withSlow(workshop => {
      writesSlow(workshop)
      workshop.write('a/b/c.png', second)
    })
    await until(workshop, 'a/b/c.png')
    renameSync(join(workshop.pictures, 'a'), join(workshop.pictures, 'z'))
    await scan()
    await until(workshop, 'z/slow.png')
    expect(recordOf(workshop, 'a/slow.png')).toMatchObject({ state: 'pending' })
    await ends()
    expect(stale).toEqual([''])
    await workshop.pass()
    expect(recordOf(workshop, 'a/slow.png')).toBeUndefined()
    expect((await imagesOn(workshop)).sort()).toEqual(['c.png', 'slow.png'])
  })

  it('a folder that loses all its many pictures is in doubt', async () => {
    const { workshop, scan, ends } = await withSlow(workshop => {
      writesSlow(workshop)
      for (let n = 0; n < 20; n++) workshop.write(`a/${n}.png`, png(2 + n, 2).bytes)
    })
    await expect.poll(() => uploaded(workshop)).toHaveLength(20)
    workshop.remove('a')
    mkdirSync(join(workshop.pictures, 'a'))
    await scan()
    expect(workshop.synced.folders.unknown(1)).toMatchObject([{ path: 'a' }])
    await ends()
  })

  it('a scan that has looked at the picture before its upload ended records nothing of it', async () => {
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
    let isBeside = false
    const { workshop, scan, stale, ends } = await withSlow(writesSlow, root => async batch => {
      const results = batch.map(folder => lookAtFolder(realDisk, root, folder))
      if (isBeside) await goesOn
      return results
    })
    isBeside = true
    workshop.remove('a/slow.png')
    const scanning = scan()
    workshop.write('a/slow.png', first)
    const ending = ends()
    await until(workshop, 'a/slow.png')
    goOn()
    await Promise.all([scanning, ending])
    expect(recordOf(workshop, 'a/slow.png')).toMatchObject({ state: 'synced' })
    expect(stale).toEqual(['a'])
  })

  it('what fails after a scan fails the pass at once', async () => {
    const { workshop, scan, release, passing } = await withSlow()
    onTestFinished(() => release())
    workshop.write('bug.png', second)
    await scan()
    await expect(passing).rejects.toThrow('a bug')
    release()
    await until(workshop, 'a/slow.png')
  })

  it('a mirror whose root comes back gets its pictures', async () => {
    const { workshop, scan, ends } = await withSlow()
    workshop.write('../pictures.other/new.png', second)
    await scan()
    await until(workshop, 'new.png')
    await ends()
  })

  it('a mirror whose root is gone gets no further picture', async () => {
    const { workshop, scan, ends } = await withSlow()
    workshop.write('new.png', second)
    renameSync(workshop.pictures, `${workshop.pictures}.off`)
    await scan()
    renameSync(`${workshop.pictures}.off`, workshop.pictures)
    await ends()
    expect(uploaded(workshop)).toEqual(['a/slow.png'])
  })
})

it('sends what a scan finds that begins just as the last upload ends', async () => {
  const workshop = await openWorkshop()
  const news: News = { scan: null, add: () => {} }
  for (let turns = 0, isLate = false; !isLate; turns++) {
    workshop.write(`${turns}.png`, png(4, 4, turns).bytes)
    let scanning = Promise.resolve()
    async function scanAfter(): Promise<void> {
      workshop.write(`${turns}-next.png`, png(5, 5, turns).bytes)
      for (let turn = 0; turn < turns; turn++) await null
      isLate = news.scan === null
      await news.scan?.(() => 'everything')
    }
    const emit: EngineContext['emit'] = emitted => {
      if (emitted.event === 'picture_uploaded' && emitted.path === `${turns}.png`) scanning = scanAfter()
    }
    await workshop.pass({ emit }, 'mirror', news)
    await scanning
    const { pending_uploads, synced } = workshop.synced.summaries.mirror(1)
    expect({ turns, pending_uploads, synced }).toEqual({
      turns,
      pending_uploads: 0,
      synced: 2 * turns + (isLate ? 1 : 2),
    })
  }
})

describe.each([true, false])('a doubt about a folder, a picture of it under way: %s,', isUnderWay => {
  /** A folder with `path`, of which a first version was sent. A second version is there. */
  async function opened(path: string, older: (workshop: Workshop) => unknown) {
    const before = async (workshop: Workshop) => {
      await older(workshop)
      workshop.write(path, first)
      await workshop.pass()
      workshop.write(path, second)
    }
    if (isUnderWay) return withSlow(before)
    const workshop = await openWorkshop()
    await before(workshop)
    return { workshop, scan: () => workshop.pass(), ends: async () => {} }
  }

  it.each(['a', 'a/day'])(
    'is raised by an older copy that lacks no more than a picture in %s',
    async path => {
      let copy = ''
      const { workshop, scan, ends } = await opened(`${path}/slow.png`, async ({ pictures, write, pass }) => {
        write('a/old.png', png(5, 5).bytes)
        // Node copies a time with less than its microseconds, a whole second alone is copied as it is.
        utimesSync(join(pictures, 'a/old.png'), 1, 1)
        await pass()
        copy = `${pictures}.copy`
        cpSync(join(pictures, 'a'), copy, { recursive: true, preserveTimestamps: true })
      })
      const { pictures, synced } = workshop
      writeFileSync(join(copy, 'deleted.png'), png(6, 6).bytes)
      renameSync(join(pictures, 'a'), `${pictures}.aside`)
      renameSync(copy, join(pictures, 'a'))
      await scan()
      expect(synced.folders.unknown(1)).toMatchObject([{ path: 'a' }])
      await ends()
      // The copy holds a picture that was deleted long ago.
      if (path === 'a') expect(await imagesOn(workshop)).not.toContain('deleted.png')
    },
  )

  it('is raised by the loss of all its many pictures', async () => {
    const { workshop, scan, ends } = await opened('a/slow.png', ({ write }) => {
      for (let n = 1; n < 20; n++) write(`a/${n}.png`, png(4 + n, 2).bytes)
    })
    workshop.remove('a')
    mkdirSync(join(workshop.pictures, 'a'))
    await scan()
    expect(workshop.synced.folders.unknown(1)).toMatchObject([{ path: 'a' }])
    await ends()
  })
})
