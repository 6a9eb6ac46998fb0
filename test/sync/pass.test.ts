import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../src/local/disk.ts'
import { PictureFileError } from '../../src/local/open-file.ts'
import { openPicture } from '../../src/local/picture-file.ts'
import { systemClock } from '../../src/protocol/clock.ts'
import { hostWith, type ImageHost } from '../../src/remote/host.ts'
import type { EngineContext } from '../../src/sync/context.ts'
import { because, codeOf, said } from '../../src/words/reasons.ts'
import { png } from '../pictures.ts'
import {
  failure,
  green,
  lookingAt,
  many,
  openWith,
  red,
  summary,
  type Workshop,
  workshopWith,
} from './workshop.ts'

/** The host with its deletions and sent pictures written down in their order. */
function recorded(host: ImageHost): { host: ImageHost; calls: string[] } {
  const calls: string[] = []
  return {
    calls,
    host: hostWith(host, {
      async send(credential, picture, signal) {
        const sent = await host.send(credential, picture, signal)
        calls.push(`sent ${picture.fileName}`)
        return sent
      },
      async deleteImage(id, signal) {
        calls.push('deleted')
        return host.deleteImage(id, signal)
      },
    }),
  }
}

/** One whose only picture has another name since it was sent. */
async function workshopWithMoved(): Promise<Workshop> {
  const workshop = await workshopWith({ 'moves.png': red })
  renameSync(join(workshop.pictures, 'moves.png'), join(workshop.pictures, 'moved.png'))
  return workshop
}

describe('a pass', () => {
  it('sends new images before old ones go', async () => {
    const workshop = await workshopWith({ 'moves.png': red, 'changes.png': green })
    renameSync(join(workshop.pictures, 'moves.png'), join(workshop.pictures, 'moved.png'))
    workshop.write('changes.png', png(9, 9).bytes)
    const { host, calls } = recorded(workshop.host)
    await workshop.pass({ host })
    expect(calls.slice(0, 2).sort()).toEqual(['sent changes.png', 'sent moved.png'])
    expect(calls.slice(2)).toEqual(['deleted', 'deleted'])
  })

  it('keeps the image of a picture that moved until the upload of its new place succeeded', async () => {
    const workshop = await workshopWithMoved()
    const { host, calls } = recorded(
      hostWith(workshop.host, {
        requestUpload: async () => failure('storage', 'STORAGE_LIMIT_REACHED', 'upload'),
      }),
    )
    const report = await workshop.pass({ host })
    expect(report.stopped).toMatchObject([{ code: 'STORAGE_LIMIT_REACHED' }])
    expect(calls).toEqual([])
    const next = recorded(workshop.host)
    await workshop.pass({ host: next.host })
    expect(next.calls).toEqual(['sent moved.png', 'deleted'])
  })

  it('deletes the image of a picture that was sent from its new place, though another of its size waits', async () => {
    const workshop = await workshopWithMoved()
    const half = Buffer.from(red)
    half[half.length - 1]! ^= 1
    workshop.write('half.png', half)
    const { host, calls } = recorded(workshop.host)
    await workshop.pass({ host })
    expect(calls).toEqual(['sent moved.png', 'deleted'])
  })

  it('deletes nothing while a folder can not be read, and goes on when it can', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'b/green.png': green })
    workshop.remove('b/green.png')
    const disk = {
      ...realDisk,
      readFolder(path: string) {
        if (path.endsWith('/a')) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
        return realDisk.readFolder(path)
      },
    }
    // Something must have changed for the folder to be looked at again.
    workshop.write('a/new.png', png(5, 5).bytes)
    const first = recorded(workshop.host)
    await workshop.pass({ host: first.host, disk, lookAt: lookingAt(disk) })
    expect(first.calls).toEqual([])
    expect(workshop.synced.summaries.failures(10)).toMatchObject([{ path: 'a', code: 'FOLDER_UNREADABLE' }])
    const second = recorded(workshop.host)
    await workshop.pass({ host: second.host })
    expect(second.calls).toEqual(['sent new.png', 'deleted'])
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, failed: 0 })
  })

  it('tries a picture that can not be read in each pass, and rests for longer and longer before it makes one', async () => {
    const workshop = await openWith({ 'red.png': red })
    let now = systemClock.wall()
    const clock = { ...systemClock, wall: () => now }
    const shut: EngineContext['openPicture'] = async () => {
      throw new PictureFileError('UNREADABLE', because('file_unreadable', { code: 'EACCES' }))
    }
    const waits = async () => {
      await workshop.pass({ openPicture: shut, clock })
      return workshop.synced.failures.nextDue()! - now
    }
    const first = await waits()
    expect(first).toBeGreaterThan(0)
    now += 1
    expect(await waits()).toBe(2 * first)
    for (let times = 0; times < 10; times++) await waits()
    expect(await waits()).toBeLessThan(2 * 3_600_000)
    await workshop.pass({ clock })
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
    // A picture that has an image keeps the image meanwhile, and albumd says so.
    const said = () => workshop.synced.summaries.failures(10).map(({ message }) => codeOf(message))
    workshop.write('red.png', green)
    workshop.write('new.png', png(1, 1).bytes)
    await workshop.pass({ openPicture: shut, clock })
    expect(said().sort()).toEqual(['file_unreadable', 'unread_image_stays'])
  })

  it('tells a picture that was empty while it was saved as one that changed', async () => {
    const workshop = await workshopWith({ 'saved.png': red })
    const { id } = workshop.synced.mirrors.of(workshop.pictures)!
    const told = () => workshop.synced.history.of({ mirror: id, path: 'saved.png' })
    workshop.write('saved.png', Buffer.alloc(0))
    await workshop.pass()
    expect(told()).toMatchObject([{ event: 'uploaded' }, { event: 'left_out' }])
    workshop.write('saved.png', png(9, 3).bytes)
    await workshop.pass()
    const events = told().map(({ event, detail }) => [event, detail && codeOf(detail)])
    expect(events).toEqual([
      ['uploaded', null],
      ['changed', 'size_changed'],
      ['uploaded', 'old_image_goes'],
      ['deleted', 'an_older_version'],
    ])
  })

  it('sends nothing that lies under an ignore file which can not be read', async () => {
    const workshop = await openWith({ 'b/c/red.png': red })
    mkdirSync(join(workshop.pictures, 'b/.albumdignore'))
    workshop.write('green.png', green)
    const { host, calls } = recorded(workshop.host)
    await workshop.pass({ host })
    expect(calls).toEqual(['sent green.png'])
    workshop.remove('b/.albumdignore')
    await workshop.pass({ host })
    expect(calls).toEqual(['sent green.png', 'sent red.png'])
  })

  it('keeps images of pictures that a link replaced, alone or with their folder', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'green.png': green })
    renameSync(join(workshop.pictures, 'a'), join(workshop.pictures, '../elsewhere'))
    symlinkSync('../elsewhere', join(workshop.pictures, 'a'))
    renameSync(join(workshop.pictures, 'green.png'), join(workshop.pictures, '../elsewhere/green.png'))
    symlinkSync('../elsewhere/green.png', join(workshop.pictures, 'green.png'))
    // Without a picture left the root would look like one that was lost.
    workshop.write('other.png', png(8, 8).bytes)
    const { host, calls } = recorded(workshop.host)
    await workshop.pass({ host })
    expect(calls).toEqual(['sent other.png'])
  })

  it('keeps images that an ignore rule hides, and takes them back when it goes', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'green.png': green })
    workshop.write('.albumdignore', 'a/\n')
    const { host, calls } = recorded(workshop.host)
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ files: 1, pending_deletions: 0, left_out: { ignored: 1 } })
    workshop.remove('.albumdignore')
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ files: 1 })
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2 })
    expect(calls).toEqual([])
  })

  it('asks for a new credential where the node refused, and counts it against the file only after a few', async () => {
    const workshop = await openWith({ 'red.png': red })
    let refusals = 0
    const host = hostWith(workshop.host, {
      async send(...args) {
        return refusals++ === 0 ? failure('new_credential', 'INTERNAL', 'send') : workshop.host.send(...args)
      },
    })
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
    expect(workshop.synced.journal.open()).toEqual([])
    workshop.write('green.png', green)
    let asked = 0
    const refusing = hostWith(workshop.host, {
      async send() {
        asked++
        return failure('new_credential', 'INTERNAL', 'send')
      },
    })
    await workshop.pass({ host: refusing, clock: { ...workshop.clock, sleep: async () => {} } })
    expect(asked).toBe(4)
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 1 })
    expect(workshop.synced.journal.open()).toEqual([])
  })

  it('asks for dimensions to be skipped where step 1 minds them', async () => {
    const workshop = await openWith({ 'red.png': red })
    const host = hostWith(workshop.host, {
      requestUpload: async (request, signal) =>
        request.skip_dimension_check
          ? workshop.host.requestUpload(request, signal)
          : failure('other_dimensions', 'INVALID_WIDTH', 'upload', { status: 400 }),
    })
    await workshop.pass({ host })
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
  })

  it('sends what a node refuses once, and over a week no more than 300 times for 100 of many pictures', async () => {
    // Other pictures are taken between them. Otherwise the node would be in trouble.
    const workshop = await openWith(many(150))
    let sent = 0
    let takes = (name: string) => Number.parseInt(name, 10) % 3 === 0
    const host = hostWith(workshop.host, {
      async send(credential, picture, signal) {
        const isTaken = takes(picture.fileName)
        if (!isTaken) sent++
        return isTaken
          ? workshop.host.send(credential, picture, signal)
          : failure('refused_by_node', 'FORBIDDEN', 'send', {
              status: 403,
              message: because('refused_by_node', { why: said('not this one') }),
            })
      },
    })
    let passed = 0
    const clock = { ...workshop.clock, wall: () => workshop.clock.wall() + passed }
    const changes = { host, clock, concurrency: 1 }
    await workshop.pass(changes)
    expect(sent).toBe(100)
    for (let hour = 0; hour <= 7 * 24; hour += 3) {
      passed = hour * 3_600_000
      await workshop.pass(changes)
    }
    expect(sent).toBeGreaterThan(150)
    expect(sent).toBeLessThanOrEqual(300)
    expect(summary(workshop)).toMatchObject({ synced: 50, failed: 100 })
    // It is not always the same few that are tried again.
    const again = workshop.synced.summaries.failures(200).filter(({ attempts }) => attempts > 1)
    expect(again.length).toBeGreaterThan(50)
    // Once the node takes one of them, all others follow at once.
    takes = () => true
    passed += 2 * 86_400_000
    await workshop.pass(changes)
    for (let pass = 0; pass < 2; pass++) await workshop.pass(changes)
    expect(summary(workshop)).toMatchObject({ synced: 150, failed: 0 })
  })

  it('does not follow a folder that became a link after the scan', async () => {
    const workshop = await openWith({ 'a/red.png': red })
    mkdirSync(join(workshop.pictures, '../secret'))
    writeFileSync(join(workshop.pictures, '../secret/red.png'), green)
    const host = hostWith(workshop.host, {
      async requestUpload() {
        throw new Error('nothing may be sent')
      },
    })
    await workshop.pass({
      host,
      openPicture(root, path) {
        renameSync(join(root, 'a'), join(root, 'b'))
        symlinkSync('../secret', join(root, 'a'))
        return openPicture(root, path, { changed: () => new Error('changed') })
      },
    })
    expect(workshop.events).toContainEqual(
      expect.objectContaining({ event: 'picture_waits', path: 'a/red.png' }),
    )
  })

  it('shares one image between files where the host answers equal bytes with one id', async () => {
    const workshop = await openWith({ 'one.png': red, 'two.png': red })
    let first: Awaited<ReturnType<ImageHost['send']>> | undefined
    const sameId = hostWith(workshop.host, {
      async send(...args) {
        const sent = await workshop.host.send(...args)
        first ??= sent
        return first
      },
    })
    await workshop.pass({ host: sameId, concurrency: 1 })
    workshop.remove('two.png')
    const { host, calls } = recorded(workshop.host)
    await workshop.pass({ host })
    expect(calls).toEqual([])
    workshop.remove('one.png')
    workshop.write('three.png', green)
    await workshop.pass({ host })
    expect(calls).toEqual(['sent three.png', 'deleted'])
  })
})
