import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { held, unproved } from '../../../src/records/escrow.ts'
import { hostWith, type ListPage, type Outcome } from '../../../src/remote/host.ts'
import { deleteTwice, repairGone } from '../../../src/sync/audit/audit-repair.ts'
import { because, said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { never, putImage } from '../album-stage.ts'
import { failure, type Workshop, workshopWith } from '../workshop.ts'
import { albumOf, audit, DAY, found, imageOf, partsOf, withPictures } from './audit-stage.ts'

type Shown = 'whole' | 'nothing' | 'too little'

/** A page without its images. 'too little': the page counts images that it does not show. */
function showing(listed: Outcome<ListPage>, shown: Shown): Outcome<ListPage> {
  if (!listed.ok || shown === 'whole') return listed
  const pagination = { ...listed.value.pagination, total_images: shown === 'nothing' ? 0 : 5 }
  return { ok: true, value: { ...listed.value, images: [], pagination } }
}

/** A page with the images of another page as well. */
function together(listed: Outcome<ListPage>, other: Outcome<ListPage>): Outcome<ListPage> {
  if (!listed.ok || !other.ok) return listed
  const images = [...listed.value.images, ...other.value.images]
  const pagination = { ...listed.value.pagination, total_images: images.length }
  return { ok: true, value: { ...listed.value, images, pagination } }
}

describe('a repair', () => {
  const interruption = { stop: never, cut: never }
  const deleteAll = (workshop: Workshop, host = workshop.host, most = 20) =>
    deleteTwice(partsOf(workshop, host), most, interruption, () => true)

  it('gives files whose images are gone back to be uploaded, and no others', async () => {
    const workshop = await withPictures()
    const gone = imageOf(workshop, '1.png').remote_id
    await workshop.host.deleteImage(gone, never)
    await audit(workshop)
    workshop.events.length = 0
    const { repaired } = await repairGone(partsOf(workshop, workshop.host), interruption)
    expect(repaired).toMatchObject([{ remote_id: gone }])
    await workshop.pass()
    const uploaded = workshop.events.filter(({ event }) => event === 'picture_uploaded')
    expect(uploaded).toMatchObject([{ path: 'a/1.png' }])
    await audit(workshop)
    expect(found(workshop)).toEqual([])
  })

  it('links what is there in the place of an image that is gone, which the audit tells in one finding', async () => {
    const workshop = await withPictures()
    const { host, synced, events } = workshop
    const parts = partsOf(workshop, host)
    // The album was looked at before.
    workshop.write('a/0.png', png(3, 2, 30).bytes)
    await workshop.pass({ contents: parts.contents })
    await host.deleteImage(imageOf(workshop, '1.png').remote_id, never)
    const there = await putImage(host, albumOf(workshop, 'a').remote_id, '1.png', png(3, 2, 10))
    await audit(workshop)
    expect(synced.audit.findings()).toMatchObject([
      { kind: 'gone', name: '1.png', detail: because('listed_instead', { id: there }) },
    ])
    events.length = 0
    await repairGone(parts, interruption)
    await workshop.pass({ contents: parts.contents })
    expect(events.map(({ event }) => event)).not.toContain('picture_uploaded')
    expect(imageOf(workshop, '1.png').remote_id).toBe(there)
  })

  it('sends nothing again that is listed by then', async () => {
    const workshop = await withPictures()
    await workshop.host.deleteImage(imageOf(workshop, '1.png').remote_id, never)
    await audit(workshop)
    const finding = workshop.synced.audit.findings()[0]!
    const { remote_id } = imageOf(workshop, '2.png')
    workshop.synced.commitNow(tx => tx.audit.put({ ...finding, remote_id, album: albumOf(workshop, 'b').id }))
    await repairGone(partsOf(workshop, workshop.host), interruption)
    expect(imageOf(workshop, '2.png')).toBeDefined()
    expect(imageOf(workshop, '1.png')).toBeUndefined()
  })

  describe('sends nothing again', () => {
    /** 2.png was found gone. `shows`: what the walks of its album show, one after the other. A walk of everything shows nothing. */
    async function walked(shows: readonly Shown[], elsewhere = false) {
      const workshop = await withPictures()
      const image = imageOf(workshop, '2.png')
      const [a, b] = ['a', 'b'].map(name => albumOf(workshop, name))
      const detail = said('')
      workshop.synced.commitNow(tx =>
        tx.audit.put({ kind: 'gone', remote_id: image.remote_id, album: b!.id, name: '2.png', detail }),
      )
      const listOf = (album: string) => workshop.host.list(album, 1, never)
      let walks = 0
      let walksAll = false
      const nextShown = (): Shown => (walksAll ? 'nothing' : (shows[walks++] ?? 'nothing'))
      const host = hostWith(workshop.host, {
        async list(album, page, signal) {
          walksAll ||= album === null
          const listed = await workshop.host.list(album, page, signal)
          if (album === a!.remote_id && elsewhere) return together(listed, await listOf(b!.remote_id))
          return album === b!.remote_id ? showing(listed, nextShown()) : listed
        },
      })
      await repairGone({ ...partsOf(workshop, host), credentialLifetimeMs: 0 }, interruption)
      return { walks, isRecorded: imageOf(workshop, '2.png') !== undefined }
    }

    it('that one of two walks in a row shows', async () => {
      expect(await walked(['nothing', 'whole'])).toEqual({ walks: 2, isRecorded: true })
    })

    it('that two walks do not show, with another between them', async () => {
      const shows = ['nothing', 'too little', 'nothing', 'whole'] as const
      expect(await walked(shows)).toEqual({ walks: 4, isRecorded: true })
    })

    it('that is in another album by now', async () => {
      expect((await walked([], true)).isRecorded).toBe(true)
      expect((await walked([])).isRecorded).toBe(false)
    })
  })

  it('forgets the image of a file that is gone too, and sends nothing', async () => {
    const workshop = await workshopWith(
      { '1.png': png(3, 2, 10).bytes, '2.png': png(4, 2, 10).bytes },
      { deletions: 'keep' },
    )
    workshop.remove('1.png')
    await workshop.pass()
    await workshop.host.deleteImage(imageOf(workshop, '1.png').remote_id, never)
    await audit(workshop)
    expect(found(workshop)).toEqual(['gone 1.png'])
    workshop.events.length = 0
    await repairGone(partsOf(workshop, workshop.host), interruption)
    await workshop.pass()
    expect(workshop.events.map(({ event }) => event)).not.toContain('picture_uploaded')
    const history = workshop.synced.history.of({ mirror: 1, path: '1.png' })
    expect(history.at(-1)).toMatchObject({ event: 'lost', detail: because('image_not_found') })
    await audit(workshop)
    expect(found(workshop)).toEqual([])
  })

  it.each(['grace', 'held', 'unproved', 'superseded'])(
    'forgets an image that is gone while it waits for its deletion: %s',
    async waits => {
      const workshop = await workshopWith({ '1.png': png(3, 2, 10).bytes, '2.png': png(4, 2, 10).bytes })
      const { synced, host } = workshop
      const { id, remote_id, hash } = imageOf(workshop, '1.png')
      if (waits === 'superseded') workshop.write('1.png', png(5, 2, 10).bytes)
      else workshop.remove('1.png')
      await workshop.pass({ graceMs: DAY })
      if (waits === 'held') synced.commitNow(tx => held(tx, 1, Date.now()))
      if (waits === 'unproved') synced.commitNow(tx => unproved(tx, id, DAY))
      expect(synced.escrow.ofMirror(1)).toMatchObject([{ image: id }])
      await host.deleteImage(remote_id, never)
      await audit(workshop)
      expect(found(workshop)).toEqual(['gone 1.png'])
      let deletions = 0
      const deleteImage: typeof host.deleteImage = (...args) => {
        deletions++
        return host.deleteImage(...args)
      }
      await repairGone(partsOf(workshop, hostWith(host, { deleteImage })), interruption)
      expect(synced.escrow.ofMirror(1)).toEqual([])
      expect(synced.images.byHash(hash)).toEqual([])
      expect(deletions).toBe(0)
      await audit(workshop)
      expect(found(workshop)).toEqual([])
    },
  )

  /** An image of ours, one that albumd deleted before and the host has again, and a foreign one that looks like it. */
  async function withTwice(): Promise<{ workshop: Workshop; again: string; alike: string }> {
    const workshop = await withPictures()
    const { remote_id } = albumOf(workshop, 'a')
    const again = await putImage(workshop.host, remote_id, 'old.png', png(7, 7))
    const alike = await putImage(workshop.host, remote_id, '1.png', png(3, 2, 77))
    // Hosts stamp in whole seconds.
    workshop.synced.commitNow(tx => tx.deleted.put(again, Date.now()))
    await audit(workshop, workshop.host, { ...systemClock, wall: () => Date.now() + 1000 })
    expect(found(workshop)).toEqual(['twice 1.png', 'twice old.png'])
    return { workshop, again, alike }
  }

  it('deletes what is there twice and known as ours, and never what only looks like it', async () => {
    const { workshop, again, alike } = await withTwice()
    const { repaired } = await deleteAll(workshop)
    expect(repaired).toMatchObject([{ remote_id: again }])
    const left = await workshop.host.list(albumOf(workshop, 'a').remote_id, 1, never)
    const ids = left.ok ? left.value.images.map(({ id }) => id) : []
    expect(ids.toSorted()).toEqual([imageOf(workshop, '1.png').remote_id, alike].toSorted())
  })

  it("leaves an image that came later under the id of one that albumd deleted: it is another person's", async () => {
    const workshop = await withPictures()
    const { remote_id } = albumOf(workshop, 'a')
    const theirs = await putImage(workshop.host, remote_id, '1.png', png(3, 2, 77))
    workshop.synced.commitNow(tx => tx.deleted.put(theirs, Date.now() - DAY))
    await audit(workshop)
    const { repaired } = await deleteAll(workshop)
    expect(repaired).toEqual([])
    const left = await workshop.host.list(remote_id, 1, never)
    expect(left.ok && left.value.images.map(({ id }) => id)).toContain(theirs)
  })

  it('deletes none where they are more than the hold lets go, or while an upload is in doubt', async () => {
    const { workshop } = await withTwice()
    const host = hostWith(workshop.host, {
      deleteImage: async () => {
        throw new Error('nothing may be deleted')
      },
    })
    expect(await deleteAll(workshop, host, 0)).toMatchObject({ withheld: 1, repaired: [] })
    workshop.write('c.png', png(8, 8).bytes)
    const send = async () => failure('find_out', 'HOST_ANSWER', 'send')
    await workshop.pass({ host: hostWith(workshop.host, { send }) })
    expect(workshop.synced.journal.openUploads()).toHaveLength(1)
    expect(await deleteAll(workshop, host)).toMatchObject({ repaired: [] })
  })

  it('deletes none from the moment on when it may not', async () => {
    const { workshop, again } = await withTwice()
    const asked: string[] = []
    const host = hostWith(workshop.host, {
      async deleteImage(id, signal, mayGo) {
        if (mayGo?.() === false) return failure('cancelled', 'CANCELLED', 'delete')
        asked.push(id)
        return workshop.host.deleteImage(id, signal)
      },
    })
    const parts = partsOf(workshop, host)
    expect(await deleteTwice(parts, 20, interruption, () => false)).toMatchObject({ repaired: [] })
    // It may when it is begun, and not any more when the request leaves.
    const answers = [true, false]
    await deleteTwice(parts, 20, interruption, () => answers.shift()!)
    expect(asked).toEqual([])
    expect(await deleteTwice(parts, 20, interruption, () => true)).toMatchObject({ repaired: [{}] })
    expect(asked).toEqual([again])
  })

  it('deletes a twin that no file needs, its intent in the journal first', async () => {
    const workshop = await withPictures()
    const ours = imageOf(workshop, '1.png')
    const twin = await putImage(workshop.host, albumOf(workshop, 'a').remote_id, '1.png', png(3, 2, 10))
    const { id, ...row } = ours
    workshop.synced.commitNow(tx => tx.images.put({ ...row, remote_id: twin }))
    await audit(workshop)
    expect(found(workshop)).toEqual(['twice 1.png'])
    const intents: number[] = []
    const host = hostWith(workshop.host, {
      deleteImage: (remoteId, signal) => {
        expect(remoteId).toBe(twin)
        intents.push(workshop.synced.journal.open().length)
        return workshop.host.deleteImage(remoteId, signal)
      },
    })
    await deleteAll(workshop, host)
    expect(intents).toEqual([1])
    expect(workshop.synced.journal.open()).toEqual([])
    await audit(workshop)
    expect(found(workshop)).toEqual([])
  })
})
