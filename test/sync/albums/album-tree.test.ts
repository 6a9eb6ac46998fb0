import { describe, expect, it } from 'vitest'
import { type HostFailure, hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { found, listingWith, never, openAlbumStage } from '../album-stage.ts'
import { openWorkshop } from '../workshop.ts'

/** The host, showing an album under another name, as after a change on its web pages. */
function renamed(host: ImageHost, id: string, name: string): Pick<ImageHost, 'list'> {
  return {
    list: listingWith(host, page => ({
      ...page,
      albums: page.albums.map(album => (album.id === id ? { ...album, name } : album)),
    })),
  }
}

describe('of twins on the host', () => {
  it('the recorded one is used, though another holds more', async () => {
    const { there, tree, synced } = await openAlbumStage()
    await there.image(png(), { album_id: await there.album('Photos') })
    const recorded = await there.album('Photos')
    synced.commitNow(tx => tx.albums.put(null, 'Photos', recorded, false))
    synced.commitNow(tx => tx.albums.doubt(recorded))
    expect(found(await tree().find(['Photos'], never)).remote_id).toBe(recorded)
  })

  it('the one that holds most is used, else the oldest', async () => {
    const { there, tree, host } = await openAlbumStage()
    const [first, second, third] = [await there.album('A'), await there.album('A'), await there.album('A')]
    const ages = new Map([
      [first, '2026-03-01T00:00:00Z'],
      [second, '2026-01-01T00:00:00+00:00'],
      [third, '2026-02-01T00:00:00Z'],
    ])
    const list = listingWith(host, page => ({
      ...page,
      albums: page.albums.map(album => ({ ...album, created_at: ages.get(album.id)! })),
    }))
    expect(found(await tree({ list }).find(['A'], never)).remote_id).toBe(second)
    const other = await openAlbumStage()
    await other.there.album('A')
    const full = await other.there.album('A')
    await other.there.image(png(), { album_id: full })
    expect(found(await other.tree().find(['A'], never)).remote_id).toBe(full)
  })

  it('one that was made where nobody could look is used until one can, then the one that holds most', async () => {
    const { there, tree, synced, host } = await openAlbumStage()
    synced.commitNow(tx => tx.meta.set('restored', true))
    const before = await there.album('Photos')
    await there.image(png(), { album_id: before })
    const albums = tree({ list: async () => ({ ok: false, failure: notInPlan }) })
    expect(await albums.find(['Photos'], never)).toMatchObject({ ok: false, failure: notInPlan })
    const blind = found(await albums.find(['Photos'], never, true))
    expect(blind.remote_id).not.toBe(before)
    expect(found(await albums.find(['Photos'], never, true)).remote_id).toBe(blind.remote_id)
    expect(found(await tree(host).find(['Photos'], never))).toMatchObject({
      remote_id: before,
      confirmed: 1,
      blind: 0,
    })
  })
})

it('an album that was made where nobody could look keeps its place while an upload into it is in doubt', async () => {
  const { there, tree, synced, host } = await openAlbumStage()
  synced.commitNow(tx => tx.meta.set('restored', true))
  const before = await there.album('Photos')
  const list = async () => ({ ok: false as const, failure: notInPlan })
  const blind = found(await tree({ list }).find(['Photos'], never, true))
  const folder = synced.commitNow(tx => tx.folders.add(tx.mirrors.add('/pictures', 'Photos').id, '')).id
  const intent = synced.commitNow(tx =>
    tx.journal.openUpload({
      folder,
      name: 'a.png',
      size: 1,
      mtime: 1,
      hash: Buffer.alloc(32),
      mime: 'image/png',
      width: 1,
      height: 1,
      cdn_url: null,
      remote_id: null,
      album: blind.id,
      since: 0,
      sent_at: 0,
    }),
  )
  expect(await tree(host).find(['Photos'], never)).toMatchObject({ failure: { code: 'ALBUM_IN_DOUBT' } })
  expect(synced.albums.byId(blind.id)!.remote_id).toBe(blind.remote_id)
  synced.commitNow(tx => tx.journal.close(intent))
  expect(found(await tree(host).find(['Photos'], never)).remote_id).toBe(before)
})

const notInPlan: HostFailure = {
  remedy: 'plan',
  endpoint: 'list',
  code: 'PLAN_NOT_SUPPORTED',
  message: said('Not in the plan'),
}

describe('an album that was renamed on the web', () => {
  it('is the album of its new name, and the old name gets another', async () => {
    const { tree, host, synced, there } = await openAlbumStage()
    const old = found(await tree().find(['Photos', 'old'], never))
    const albums = tree(renamed(host, old.remote_id, 'new'))
    const now = found(await albums.find(['Photos', 'new'], never))
    expect(now).toMatchObject({ id: old.id, remote_id: old.remote_id, name: 'new', ours: 1 })
    const again = found(await albums.find(['Photos', 'old'], never))
    expect(again.remote_id).not.toBe(old.remote_id)
    expect(synced.albums.named(old.parent, 'new')).toEqual(now)
    expect((await there.list(synced.albums.byId(old.parent!)!.remote_id)).albums).toHaveLength(2)
  })

  it('takes the place of one that is gone and bore that name', async () => {
    const { tree, host, there } = await openAlbumStage()
    const stays = found(await tree().find(['stays'], never))
    const gone = found(await tree().find(['gone'], never))
    await there.call('DELETE', `/delete?album=${gone.remote_id}`)
    const albums = tree(renamed(host, stays.remote_id, 'gone'))
    const now = found(await albums.lookAgain(['gone'], never, gone))
    expect(now).toMatchObject({ id: stays.id, remote_id: stays.remote_id, name: 'gone', confirmed: 1 })
    const other = found(await albums.find(['stays'], never))
    expect([stays.remote_id, gone.remote_id]).not.toContain(other.remote_id)
  })

  it('does not end a pass', async () => {
    const workshop = await openWorkshop({ album: '' })
    workshop.write('old/red.png', png(3, 2).bytes)
    await workshop.pass()
    const { remote_id } = workshop.synced.albums.named(null, 'old')!
    workshop.write('new/green.png', png(5, 5).bytes)
    await workshop.pass({ host: hostWith(workshop.host, renamed(workshop.host, remote_id, 'new')) })
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 2, synced: 2, failed: 0 })
  })

  it('may be shown inside itself by a host that is out of its mind', async () => {
    const { tree, host } = await openAlbumStage()
    const photos = found(await tree().find(['Photos'], never))
    // As a host would that does not look at album_id.
    const list: ImageHost['list'] = (_, page, signal) => host.list(null, page, signal)
    expect(found(await tree({ list }).find(['Photos', 'Photos', 'Photos'], never))).toEqual(photos)
  })
})
