import { describe, expect, it } from 'vitest'
import { type Clock, systemClock } from '../../../src/protocol/clock.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { runAudit } from '../../../src/sync/audit/audit.ts'
import { deleteTwice } from '../../../src/sync/audit/index.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { countingMore, listingWith, never, putImage, remoteAlbum } from '../album-stage.ts'
import { failure, workshopWith } from '../workshop.ts'
import { albumOf, audit, DAY, found, imageOf, partsOf, withPictures } from './audit-stage.ts'

const NONE = Buffer.alloc(32)

describe('an audit', () => {
  it('finds nothing where all is as recorded, and walks no album of another person beside ours', async () => {
    const workshop = await withPictures()
    const other = await remoteAlbum(workshop.host, 'Others', null)
    await putImage(workshop.host, other, 'x.png', png(9, 9))
    expect(await audit(workshop)).toEqual({ albums: 3, skipped: [], finished: true, stopped: null })
    expect(found(workshop)).toEqual([])
  })

  it('finds what is gone, foreign and twice, and forgets it once it is settled', async () => {
    const workshop = await withPictures()
    await workshop.host.deleteImage(imageOf(workshop, '1.png').remote_id, never)
    const { remote_id } = albumOf(workshop, 'b')
    const foreign = await putImage(workshop.host, remote_id, 'foreign.png', png(9, 9))
    const alike = await putImage(workshop.host, remote_id, '2.png', png(4, 2, 99))
    await audit(workshop)
    expect(found(workshop)).toEqual(['foreign foreign.png', 'gone 1.png', 'twice 2.png'])
    for (const id of [foreign, alike]) await workshop.host.deleteImage(id, never)
    await audit(workshop)
    expect(found(workshop)).toEqual(['gone 1.png'])
  })

  it('finds what was uploaded without an album wherever it stands, while nobody has learned where that is', async () => {
    const workshop = await withPictures()
    const { synced } = workshop
    // Another person's default album, as far as the records know.
    synced.commitNow(tx => tx.images.moved({ id: imageOf(workshop, '1.png').id, album: null }))
    await audit(workshop)
    expect(found(workshop)).toEqual([])
    await workshop.host.deleteImage(synced.images.inAlbum(null)[0]!.remote_id, never)
    await audit(workshop)
    expect(found(workshop)).toEqual(['gone 1.png'])
  })

  it('finds the images of an album that was deleted', async () => {
    const workshop = await withPictures()
    await workshop.host.deleteAlbum(albumOf(workshop, 'Photos').remote_id, never)
    for (const { remote_id } of workshop.synced.albums.all())
      workshop.synced.commitNow(tx => tx.albums.made(Math.round(systemClock.monotonic()) - DAY, remote_id))
    expect(await audit(workshop)).toMatchObject({ finished: true, skipped: [] })
    expect(found(workshop)).toEqual(['gone 1.png', 'gone 2.png'])
  })

  it('finds what is gone though it was recorded while the clock was ahead, and not what came since it began', async () => {
    const workshop = await withPictures()
    const { synced } = workshop
    const clock = { ...systemClock, wall: () => systemClock.wall() - DAY }
    const lost = imageOf(workshop, '1.png')
    await workshop.host.deleteImage(lost.remote_id, never)
    const { id: album, remote_id } = albumOf(workshop, 'b')
    const list: ImageHost['list'] = async (id, page, signal) => {
      const listed = await workshop.host.list(id, page, signal)
      if (id === remote_id && !synced.images.byRemoteId('young'))
        synced.commitNow(tx => tx.images.put({ ...lost, album, remote_id: 'young', name: 'young.png' }))
      return listed
    }
    await audit(workshop, hostWith(workshop.host, { list }), clock)
    expect(found(workshop)).toEqual(['gone 1.png'])
  })

  it('knows nothing of an album that the host lists and does not know', async () => {
    const workshop = await withPictures()
    const lost = albumOf(workshop, 'a').remote_id
    workshop.synced.commitNow(tx => tx.albums.made(Math.round(systemClock.monotonic()) - DAY, lost))
    const host = hostWith(workshop.host, {
      list: async (album, page, signal) =>
        album === lost ? failure('gone', 'NOT_FOUND', 'list') : workshop.host.list(album, page, signal),
    })
    expect(await audit(workshop, host)).toMatchObject({ finished: true, skipped: [{ album: 'Photos/a' }] })
    expect(found(workshop)).toEqual([])
  })

  it('takes for no foreign image what an upload in doubt may have sent under a name that the host changed', async () => {
    const workshop = await withPictures()
    const list = listingWith(workshop.host, page => ({
      ...page,
      images: page.images.map(image => ({ ...image, name: image.name!.toLowerCase().replace(' ', '_') })),
    }))
    const send: ImageHost['send'] = async (...what) => {
      await workshop.host.send(...what)
      return failure('find_out', 'HOST_ANSWER', 'send')
    }
    const fetchDelivered: ImageHost['fetchDelivered'] = async () => ({
      ok: true,
      status: 404,
      size: 0,
      sha256: NONE,
    })
    const host = hostWith(workshop.host, { list, send, fetchDelivered })
    workshop.write('a/My Photo.png', png(7, 7).bytes)
    await workshop.pass({ host })
    expect(workshop.synced.journal.openUploads()).toHaveLength(1)
    await audit(workshop, host)
    expect(found(workshop)).toEqual([])
  })

  it('concludes nothing from a listing that never comes out whole', async () => {
    const workshop = await withPictures()
    const { remote_id } = albumOf(workshop, 'a')
    let walks = 0
    const list = listingWith(workshop.host, (page, _, album) => {
      if (album !== remote_id) return page
      walks++
      return { ...page, images: [] }
    })
    const report = await audit(workshop, hostWith(workshop.host, { list }))
    expect(report).toMatchObject({ albums: 2, finished: true, skipped: [{ album: 'Photos/a' }] })
    expect(walks).toBe(2)
    expect(found(workshop)).toEqual([])
  })

  it('compares a listing that shows all that is recorded, although the host counts more', async () => {
    const workshop = await withPictures()
    const list = countingMore(workshop.host)
    await putImage(workshop.host, albumOf(workshop, 'b').remote_id, 'foreign.png', png(9, 9))
    const host = hostWith(workshop.host, { list })
    expect(await audit(workshop, host)).toMatchObject({ albums: 3, finished: true, skipped: [] })
    expect(found(workshop)).toEqual(['foreign foreign.png'])
    await workshop.host.deleteImage(imageOf(workshop, '1.png').remote_id, never)
    expect(await audit(workshop, host)).toMatchObject({ skipped: [{ album: 'Photos/a' }] })
    expect(found(workshop)).toEqual(['foreign foreign.png'])
  })

  it.each([
    ['before', 'b/2.png', 'a'],
    ['after', 'a/1.png', 'b'],
  ])(
    'tells an image that is in another album from one that is gone, that one walked %s its own',
    async (_, path, to) => {
      const workshop = await withPictures()
      const image = imageOf(workshop, path.slice(2))
      const home = workshop.synced.albums.byId(image.album!)!.remote_id
      const shown = await workshop.host.list(home, 1, never)
      if (!shown.ok) throw new Error(inWords(shown.failure.message))
      const target = albumOf(workshop, to).remote_id
      const list = listingWith(workshop.host, (page, __, album) => {
        if (album === home)
          return { ...page, images: [], pagination: { ...page.pagination, total_images: 0 } }
        if (album !== target) return page
        const images = [...page.images, ...shown.value.images]
        return { ...page, images, pagination: { ...page.pagination, total_images: images.length } }
      })
      // Of an image that came a moment ago the delivery address would be asked.
      const tomorrow = { ...systemClock, wall: () => Date.now() + DAY }
      await audit(workshop, hostWith(workshop.host, { list }), tomorrow)
      expect(found(workshop)).toEqual([`changed ${image.name}`])
    },
  )

  it('misses an image that waits for its deletion, but not one whose DELETE is under way', async () => {
    const workshop = await withPictures()
    const { id, remote_id } = imageOf(workshop, '1.png')
    workshop.remove('a')
    await workshop.pass({ graceMs: DAY })
    await audit(workshop)
    expect(found(workshop)).toEqual([])
    await workshop.host.deleteImage(remote_id, never)
    await audit(workshop)
    expect(found(workshop)).toEqual(['gone 1.png'])
    workshop.synced.commitNow(tx => tx.journal.openImageDeletion(id, Date.now()))
    await audit(workshop)
    expect(found(workshop)).toEqual([])
  })

  it('finds nothing where a backup keeps the older version', async () => {
    const backup = await workshopWith({ '1.png': png(3, 2, 10).bytes }, { deletions: 'keep' })
    backup.write('1.png', png(5, 2, 10).bytes)
    await backup.pass()
    await audit(backup)
    expect(backup.synced.images.inAlbum(1)).toHaveLength(2)
    expect(found(backup)).toEqual([])
  })

  it('believes the delivery address of an image that came a moment ago', async () => {
    const workshop = await withPictures()
    const between: string[] = []
    const list = listingWith(workshop.host, page => {
      between.push(...found(workshop))
      return { ...page, images: [], pagination: { ...page.pagination, total_images: 0 } }
    })
    const late = hostWith(workshop.host, { list })
    await audit(workshop, late)
    // Nor does it say so while the audit goes on with other albums.
    expect([...between, ...found(workshop)]).toEqual([])
    const setForward = { ...systemClock, wall: () => Date.now() + DAY }
    await audit(workshop, late, setForward)
    expect(found(workshop)).toEqual([])
    const tomorrow = { ...setForward, monotonic: () => systemClock.monotonic() + DAY }
    await audit(workshop, late, tomorrow)
    expect(found(workshop)).toEqual(['gone 1.png', 'gone 2.png'])
  })

  it('goes on where it was stopped, and begins anew after a week', async () => {
    const workshop = await withPictures()
    const walked: (string | null)[] = []
    const host = hostWith(workshop.host, {
      list: (album, page, signal) => {
        walked.push(album)
        return workshop.host.list(album, page, signal)
      },
    })
    const stop = new AbortController()
    const parts = { ...partsOf(workshop, host), gapMs: 0 }
    const progress = (done: number) => void (done === 2 && stop.abort())
    const first = await runAudit({ ...parts, progress }, { stop: stop.signal, cut: never })
    expect(first).toMatchObject({ albums: 2, finished: false })
    expect(await audit(workshop, host)).toMatchObject({ albums: 3, finished: true })
    expect(walked).toEqual(workshop.synced.albums.all().map(({ remote_id }) => remote_id))

    await runAudit({ ...parts, progress }, { stop: stop.signal, cut: never })
    walked.length = 0
    await audit(workshop, host, { ...systemClock, wall: () => Date.now() + 8 * DAY })
    expect(walked).toHaveLength(3)
  })

  it('keeps what the last one found of an album until it reads this album again', async () => {
    const workshop = await withPictures()
    // The album that is read first is the one that lacks the image.
    const inOrder = ['a', 'b'].map(name => albumOf(workshop, name)).sort((one, next) => one.id - next.id)
    const [first, other] = inOrder.map(({ remote_id }) => remote_id)
    const { remote_id: id, name } = workshop.synced.images.inAlbum(inOrder[0]!.id)[0]!
    await workshop.host.deleteImage(id, never)
    await audit(workshop)
    const stop = AbortSignal.abort()
    const parts = { ...partsOf(workshop, workshop.host), gapMs: 0, progress: () => {} }
    await runAudit(parts, { stop, cut: never })
    expect(found(workshop)).toEqual([`gone ${name}`])
    expect(await audit(workshop)).toMatchObject({ finished: true })
    expect(found(workshop)).toEqual([`gone ${name}`])
    // What was found in one album says nothing of what another album shows since.
    for (const there of [other, null, other, first]) {
      const list = listingWith(workshop.host, (page, _, album) =>
        album === there ? { ...page, images: [...page.images, { id, name }] } : page,
      )
      expect(await audit(workshop, hostWith(workshop.host, { list }))).toMatchObject({ finished: true })
      expect(found(workshop)).toEqual(
        there === other ? [`changed ${name}`] : there === first ? [] : [`gone ${name}`],
      )
    }
  })

  it('ends with what the host says, and keeps what it has', async () => {
    const workshop = await withPictures()
    const { remote_id } = albumOf(workshop, 'b')
    const host = hostWith(workshop.host, {
      list: async (album, page, signal) =>
        album === remote_id
          ? failure('later', 'HOST_UNREACHABLE', 'list')
          : workshop.host.list(album, page, signal),
    })
    const report = await audit(workshop, host)
    expect(report).toMatchObject({ finished: false, stopped: { code: 'HOST_UNREACHABLE' } })
    expect(report.albums).toBeGreaterThan(0)
    const { meta } = workshop.synced
    expect(meta.get('audit_stopped')).toBe(true)
    expect(await audit(workshop)).toMatchObject({ finished: true })
    expect(meta.get('audit_stopped')).toBeNull()
  })

  it('leaves time to others between its requests', async () => {
    const workshop = await withPictures()
    let now = 0
    const starts: number[] = []
    const clock: Clock = {
      wall: () => Date.now(),
      monotonic: () => now,
      sleep: async ms => {
        now += ms
      },
    }
    const host = hostWith(workshop.host, {
      list: (...args) => {
        starts.push(now)
        return workshop.host.list(...args)
      },
    })
    const parts = { ...partsOf(workshop, host, clock), gapMs: 200, progress: () => {} }
    await runAudit(parts, { stop: never, cut: never })
    expect(starts).toEqual([0, 200, 400])
  })
})

it('names the images of albums below ours that no folder has, and deletes none', async () => {
  const workshop = await withPictures()
  const { id: photos, remote_id } = albumOf(workshop, 'Photos')
  const left = await remoteAlbum(workshop.host, 'Holiday', remote_id)
  const below = await remoteAlbum(workshop.host, 'Day 1', left)
  await putImage(workshop.host, left, 'x.png', png(9, 9))
  const deep = await putImage(workshop.host, below, 'y.png', png(9, 8))
  expect(await audit(workshop)).toMatchObject({ albums: 3, finished: true })
  expect(found(workshop)).toEqual(['foreign Holiday/Day 1/y.png', 'foreign Holiday/x.png'])
  expect(workshop.synced.audit.findings()[0]).toMatchObject({ album: photos, remote_id: deep })
  await deleteTwice(partsOf(workshop, workshop.host), 20, { stop: never, cut: never }, () => true)
  await workshop.host.deleteImage(deep, never)
  await audit(workshop)
  expect(found(workshop)).toEqual(['foreign Holiday/x.png'])
})

it('looks below an album that albumd neither made nor put an image into', async () => {
  const workshop = await workshopWith({ 'years/2024/1.png': png(3, 2, 10).bytes })
  const { synced, host } = workshop
  for (const { parent, name, remote_id } of synced.albums.all())
    synced.commitNow(tx => {
      tx.albums.put(parent, name, `${remote_id}x`, false)
      tx.albums.put(parent, name, remote_id, false)
    })
  const left = await remoteAlbum(host, '2023', albumOf(workshop, 'years').remote_id)
  await putImage(host, left, 'x.png', png(9, 9))
  await audit(workshop)
  expect(found(workshop)).toEqual(['foreign 2023/x.png'])
})

it('names the images of a mirror’s album that an older copy of the records does not know', async () => {
  const workshop = await workshopWith({})
  const photos = await remoteAlbum(workshop.host, 'Photos', null)
  const below = await remoteAlbum(workshop.host, 'b', photos)
  const others = await remoteAlbum(workshop.host, 'Others', null)
  for (const album of [photos, below, others]) await putImage(workshop.host, album, 'x.png', png(9, 9))
  expect(await audit(workshop)).toMatchObject({ albums: 0, finished: true })
  expect(found(workshop)).toEqual(['foreign Photos/b/x.png', 'foreign Photos/x.png'])
})
