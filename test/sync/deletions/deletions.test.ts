import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { png } from '../../pictures.ts'
import {
  count,
  failure,
  green,
  imagesOn,
  lookingAt,
  openWithoutRed,
  openWorkshop,
  red,
  summary,
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
    const before = workshop.synced.meta.get('running_ms')!
    const later = before + 1_000_000
    let looks = 0
    const lookAt: EngineContext['lookAt'] = root => batch => {
      if (++looks > 1) throw new Error('the process ended')
      return lookingAt(realDisk)(root)(batch)
    }
    await expect(workshop.pass({ lookAt, running: () => later })).rejects.toThrow('the process ended')
    const [{ due_at } = { due_at: 0 }] = workshop.synced.escrow.ofMirror(1)
    expect(due_at).toBe(later)
    expect(workshop.synced.meta.get('running_ms')).toBe(later)
  })
})

describe('images under doubt', () => {
  it('that two paths share stay when one of them is back before the deletion', async () => {
    const workshop = await openWorkshop()
    workshop.write('one.png', red)
    workshop.write('two.png', red)
    workshop.write('green.png', green)
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
    const workshop = await openWorkshop({ deletions: 'keep' })
    workshop.write('red.png', red)
    await workshop.pass()
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
    const workshop = await openWorkshop()
    for (const [name, bytes] of [
      ['a.png', red],
      ['b.png', green],
      ['c.png', blue],
    ] as const)
      workshop.write(name, bytes)
    await workshop.pass()
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

  it('are not kept by a file of their size that will never be a picture', async () => {
    const workshop = await openWorkshop()
    workshop.write('red.png', red)
    workshop.write('green.png', green)
    workshop.write('broken.png', Buffer.alloc(red.length, 1))
    await workshop.pass()
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
