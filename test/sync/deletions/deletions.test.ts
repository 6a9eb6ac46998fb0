import { createHash } from 'node:crypto'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { kept } from '../../../src/records/escrow.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { because } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { contentOf, never, putImage, remoteAlbum } from '../album-stage.ts'
import {
  count,
  failure,
  green,
  imagesOn,
  lookingAt,
  openWith,
  openWithoutRed,
  openWorkshop,
  red,
  summary,
  workshopWith,
} from '../workshop.ts'

const blue = png(3, 2, 30).bytes

describe('a deletion whose answer was lost', () => {
  const losing = (host: ImageHost) =>
    hostWith(host, {
      async deleteImage(...args) {
        await host.deleteImage(...args)
        return failure('later', 'HOST_UNREACHABLE', 'delete')
      },
    })

  it('is repeated, and finds nothing', async () => {
    const workshop = await openWithoutRed()
    await workshop.pass({ host: losing(workshop.host) })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 1 })
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ files: 1, synced: 1, pending_deletions: 0 })
    expect(workshop.synced.journal.open()).toEqual([])
  })

  it('does not let a picture that comes back rely on its image', async () => {
    const workshop = await openWithoutRed()
    await workshop.pass({ host: losing(workshop.host) })
    workshop.write('red.png', red)
    await workshop.pass()
    await workshop.pass()
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    expect(workshop.synced.journal.open()).toEqual([])
  })
})

describe('a grace', () => {
  it('goes on where it was when albumd ends in the middle of a pass', async () => {
    const workshop = await openWithoutRed()
    workshop.write('a/blue.png', blue)
    const before = workshop.synced.meta.get('running_ms')!
    const later = before + 1_000_000
    let looks = 0
    const lookAt: EngineContext['lookAt'] = (root, ended) => batch => {
      if (++looks > 1) throw new Error('the process ended')
      return lookingAt(realDisk)(root, ended)(batch)
    }
    await expect(workshop.pass({ lookAt, running: () => later, graceMs: 1000 })).rejects.toThrow(
      'the process ended',
    )
    const [{ due_at } = { due_at: 0 }] = workshop.synced.escrow.ofMirror(1)
    expect(due_at).toBe(later + 1000)
    expect(workshop.synced.meta.get('running_ms')).toBe(later)
  })
})

describe('images under doubt', () => {
  it('that two paths share stay when one of them is back before the deletion', async () => {
    const workshop = await openWith({ 'one.png': red, 'two.png': red, 'green.png': green })
    let first: Awaited<ReturnType<ImageHost['send']>> | undefined
    const sameId = hostWith(workshop.host, {
      async send(credential, picture, signal) {
        if (picture.fileName === 'green.png') return workshop.host.send(credential, picture, signal)
        first ??= await workshop.host.send(credential, picture, signal)
        return first
      },
    })
    await workshop.pass({ host: sameId, concurrency: 1 })
    workshop.remove('one.png')
    workshop.remove('two.png')
    // Both are gone for the scan; one is back when the deletion is about to be sent.
    const grace = await workshop.pass({ graceMs: 10 })
    expect(grace.stopped).toEqual([])
    const lookAt = () => async (batch: { path: string }[]) =>
      batch.map(({ path }) => ({ path, kind: 'same' as const }))
    workshop.write('two.png', red)
    await workshop.pass({ disk: realDisk, lookAt, running: () => 1000 })
    expect(count(workshop, 'image_deleted')).toBe(0)
  })

  it('that a backup had stay, though their host gave them to equal bytes that are deleted elsewhere', async () => {
    const workshop = await workshopWith({ 'red.png': red }, { deletions: 'keep' })
    workshop.write('red.png', blue)
    await workshop.pass()
    const { mirrors, images, commitNow } = workshop.synced
    const image = images.byHash(createHash('sha256').update(red).digest())[0]!
    // As another mirror would that stood on it too.
    commitNow(tx =>
      tx.escrow.put({
        image: image.id,
        mirror: mirrors.of(workshop.mirror.folder)!.id,
        path: 'elsewhere.png',
        reason: 'deleted',
        state: 'grace',
        since: 0,
        due_at: 0,
      }),
    )
    workshop.mirror.deletions = 'propagate'
    await workshop.pass()
    await workshop.pass()
    expect(count(workshop, 'image_deleted')).toBe(0)
    expect(await imagesOn(workshop)).toEqual(['red.png', 'red.png'])
    expect(summary(workshop)).toMatchObject({ pending_deletions: 0 })
  })

  it('go one by one: one that the host will not delete does not keep the others', async () => {
    const workshop = await workshopWith({ 'a.png': red, 'b.png': green, 'c.png': blue })
    workshop.remove('a.png')
    workshop.remove('b.png')
    let asked = 0
    const host = hostWith(workshop.host, {
      async deleteImage(...args) {
        return asked++ === 0
          ? failure('later', 'DELETE_FAILED', 'delete', { status: 500 })
          : workshop.host.deleteImage(...args)
      },
    })
    await workshop.pass({ host })
    await workshop.pass({ host })
    expect(asked).toBe(2)
    expect(await imagesOn(workshop)).toEqual(['a.png', 'c.png'])
    await workshop.pass({ host, running: () => 2 * 3_600_000 })
    expect(await imagesOn(workshop)).toEqual(['c.png'])
  })

  it('are carried out by a retry where the plan has refused them, and no others', async () => {
    const workshop = await workshopWith({ 'red.png': red, 'green.png': green, 'blue.png': blue })
    const { host } = workshop
    workshop.remove('red.png')
    workshop.remove('green.png')
    const refusing = hostWith(host, {
      deleteImage: async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'delete'),
    })
    await workshop.pass({ host: refusing })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 2 })
    workshop.remove('blue.png')
    workshop.write('other.png', png(5, 5).bytes)
    await workshop.pass({ host: refusing }, 'retry')
    await workshop.pass({}, 'retry')
    expect(await imagesOn(workshop)).toEqual(['blue.png', 'other.png'])
  })

  it('are not kept by a file of their size that will never be a picture', async () => {
    const broken = Buffer.alloc(red.length, 1)
    const workshop = await workshopWith({ 'red.png': red, 'green.png': green, 'broken.png': broken })
    workshop.remove('red.png')
    await workshop.pass()
    expect(await imagesOn(workshop)).toEqual(['green.png'])
  })

  it('of a picture that was deleted and written anew within the grace go when the new one is there', async () => {
    const workshop = await openWithoutRed()
    await workshop.pass({ graceMs: 1000 })
    workshop.write('red.png', png(9, 9).bytes)
    await workshop.pass({ running: () => 5000 })
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
  })
})

describe('a mirror that becomes a backup', () => {
  it('keeps what was about to be given up', async () => {
    const workshop = await openWithoutRed()
    await workshop.pass({ graceMs: 1000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 1 })
    workshop.mirror.deletions = 'keep'
    await workshop.pass({ graceMs: 1000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 0 })
    workshop.mirror.deletions = 'propagate'
    await workshop.pass({ running: () => 9000 })
    expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
  })
})

describe('an image that is kept for good', () => {
  it.each(['in a backup that becomes a mirror', 'by a word'])(
    'stays where another picture takes its name, and is found again by its own bytes: %s',
    async how => {
      const workshop = await workshopWith(
        { 'red.png': red, 'green.png': green },
        { deletions: how === 'by a word' ? 'propagate' : 'keep' },
      )
      workshop.remove('red.png')
      await workshop.pass({ graceMs: 1000 })
      const [given] = workshop.synced.escrow.ofMirror(1)
      if (given) workshop.synced.commitNow(tx => kept(tx, [given.image], 0))
      workshop.mirror.deletions = 'propagate'
      workshop.write('red.png', png(9, 9).bytes)
      await workshop.pass({ running: () => 5000 })
      await workshop.pass({ running: () => 9000 })
      expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png', 'red.png'])
      expect(workshop.synced.images.byHash(createHash('sha256').update(red).digest())).toMatchObject([
        { kept: 1 },
      ])
      workshop.write('red.png', red)
      await workshop.pass({ running: () => 15_000 })
      await workshop.pass({ running: () => 19_000 })
      expect(count(workshop, 'picture_uploaded')).toBe(3)
      expect(await imagesOn(workshop)).toEqual(['green.png', 'red.png'])
      expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
      // The deletion of a kept image is never announced. The record of its picture stays.
      workshop.remove('red.png')
      await workshop.pass({ graceMs: 1000 })
      expect(summary(workshop)).toMatchObject({ files: 1, pending_deletions: 0 })
      expect([...workshop.synced.files.inState('kept')]).toMatchObject([{ name: 'red.png' }])
      expect(count(workshop, 'image_kept')).toBe(0)
      workshop.write('red.png', red)
      await workshop.pass()
      workshop.write('red.png', blue)
      await workshop.pass({ graceMs: 1000 })
      expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
      expect(workshop.synced.history.of({ mirror: 1, path: 'red.png' }).at(-1)).toMatchObject({
        event: 'uploaded',
        detail: because('old_image_stays'),
      })
    },
  )
})

/** The host answers the upload of red with an image of equal bytes, which a person has in an album of theirs. */
async function withTheirs() {
  const workshop = await openWorkshop()
  const { host } = workshop
  const album = await remoteAlbum(host, 'Theirs', null)
  const theirs = await putImage(host, album, 'theirs.png', { ...png(3, 2), bytes: red })
  const send: ImageHost['send'] = async (credential, picture, signal) => {
    if (picture.fileName !== 'red.png') return host.send(credential, picture, signal)
    return { ok: true, value: { imageId: theirs, cdnUrl: credential.cdnUrl!.replace(/[^/]+$/, theirs) } }
  }
  workshop.write('red.png', red)
  workshop.write('green.png', green)
  await workshop.pass({ host: hostWith(host, { send }) })
  expect(summary(workshop)).toMatchObject({ synced: 2 })
  workshop.remove('red.png')
  return { ...workshop, album }
}

it("an image of equal bytes that was a person's before is not deleted without a word", async () => {
  const workshop = await withTheirs()
  await workshop.pass()
  await workshop.pass()
  expect(await contentOf(workshop.host, workshop.album)).toEqual(['theirs.png'])
  expect(summary(workshop)).toMatchObject({ pending_deletions: 0, held_deletions: 1 })
  workshop.remove('green.png')
  workshop.write('blue.png', png(3, 2, 30).bytes)
  await workshop.pass()
  expect(count(workshop, 'image_deleted')).toBe(1)
  expect(summary(workshop)).toMatchObject({ files: 1, synced: 1, held_deletions: 1 })
})

it('nor while its album can not be looked at', async () => {
  const workshop = await withTheirs()
  const list: ImageHost['list'] = async () => failure('later', 'HOST_UNREACHABLE', 'list')
  await workshop.pass({ host: hostWith(workshop.host, { list }) })
  expect(await contentOf(workshop.host, workshop.album)).toEqual(['theirs.png'])
  expect(summary(workshop)).toMatchObject({ pending_deletions: 1, held_deletions: 0 })
})

it('but by a word it is', async () => {
  const workshop = await withTheirs()
  await workshop.pass()
  const { synced } = workshop
  for (const { image } of synced.escrow.ofMirror(1)) synced.commitNow(tx => tx.escrow.approve(image))
  await workshop.pass({ running: () => 3_600_001 })
  expect(await contentOf(workshop.host, workshop.album)).toEqual([])
  expect(await workshop.host.list(null, 1, never)).toMatchObject({ ok: true })
})

it('tells by its whole path a picture that moved into another mirror', async () => {
  const workshop = await workshopWith({ 'a/red.png': red, 'green.png': green })
  const other = { ...workshop.mirror, folder: `${workshop.pictures}-other`, album: 'Other' }
  mkdirSync(join(other.folder, 'a'), { recursive: true })
  const to = join(other.folder, 'a/red.png')
  renameSync(join(workshop.pictures, 'a/red.png'), to)
  for (const _ of [1, 2])
    await workshop.pass({ lookAt: lookingAt(realDisk) }, 'mirror', undefined, [workshop.mirror, other])
  expect(workshop.events.filter(({ event }) => event === 'image_deleted')).toMatchObject([
    { mirror: workshop.pictures, path: 'a/red.png', moved_to: to },
  ])
  const deleted = workshop.synced.history.of({ mirror: 1, path: 'a/red.png' }).at(-1)
  expect(deleted).toMatchObject({ event: 'deleted', detail: because('picture_moved', { path: to }) })
})
