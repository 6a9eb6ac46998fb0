import { describe, expect, it } from 'vitest'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { png } from '../../pictures.ts'
import { found, lateListing, listingWith, never, openAlbumStage, times } from '../album-stage.ts'
import { failure, workshopWith } from '../workshop.ts'

const names = (albums: readonly { name: string }[]) => albums.map(({ name }) => name).sort()

describe('an album that the host no longer knows', () => {
  it('is made again once, though eight uploads heard of it one after the other and listings are late', async () => {
    const stage = await openAlbumStage()
    const lost = found(await stage.tree().find(['Photos'], never))
    await stage.there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const albums = stage.tree(await lateListing(stage))
    const again: string[] = []
    for (let upload = 0; upload < 8; upload++)
      again.push(found(await albums.lookAgain(['Photos'], never, lost)).remote_id)
    expect(new Set(again).size).toBe(1)
    expect((await stage.there.list()).albums).toMatchObject([{ id: again[0] }])
  })

  it('is made again once by a pass of eight workers', async () => {
    const workshop = await workshopWith({ 'first.png': png(9, 9).bytes })
    const lost = workshop.synced.albums.named(null, 'Photos')!
    await workshop.host.deleteAlbum(lost.remote_id, never)
    for (let n = 0; n < 24; n++) workshop.write(`${n}.png`, png(2, 2, n).bytes)
    const list = listingWith(workshop.host, page => ({ ...page, albums: [] }))
    await workshop.pass({ host: hostWith(workshop.host, { list }), concurrency: 8 })
    const root = await workshop.host.list(null, 1, never)
    expect(root).toMatchObject({ value: { albums: [{ name: 'Photos', image_count: 24 }] } })
  })

  it('is looked for in a new listing, not in one from before', async () => {
    const { tree, there } = await openAlbumStage()
    const lost = found(await tree().find(['Photos'], never))
    const albums = tree()
    await albums.find(['Others'], never)
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const again = found(await albums.lookAgain(['Photos'], never, lost))
    expect(again.remote_id).not.toBe(lost.remote_id)
    expect(names((await there.list()).albums)).toEqual(['Others', 'Photos'])
  })

  it('is heard of where something is to be made in it, and made again with all below it', async () => {
    const { tree, there } = await openAlbumStage()
    const first = tree()
    const lost = found(await first.find(['Photos'], never))
    const below = found(await first.find(['Photos', 'a'], never))
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const albums = tree()
    found(await albums.find(['Photos', 'new'], never))
    const again = found(await albums.find(['Photos', 'a'], never))
    expect(again).toMatchObject({ id: below.id, confirmed: 1 })
    expect(again.remote_id).not.toBe(below.remote_id)
    const [photos] = (await there.list()).albums
    expect(names((await there.list(photos!.id)).albums)).toEqual(['a', 'new'])
  })

  const noList: ImageHost['list'] = async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list')

  it('stays recorded where the plan can not list, and nothing is created in it or in its place', async () => {
    const { tree, there } = await openAlbumStage()
    const lost = found(await tree().find(['Photos'], never))
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const pass = tree({ list: noList })
    expect(found(await pass.find(['Photos', 'a'], never))).toMatchObject({ id: lost.id })
    for (const albums of [pass, tree({ list: noList })])
      expect(found(await albums.lookAgain(['Photos'], never, lost))).toEqual(lost)
    expect((await there.list()).albums).toEqual([])
    const again = found(await tree().lookAgain(['Photos'], never, lost))
    expect(again.remote_id).not.toBe(lost.remote_id)
  })

  it('stays recorded where it is in doubt and the plan can not list', async () => {
    const { tree, synced, asked } = await openAlbumStage()
    const { remote_id } = found(await tree().find(['Photos'], never))
    synced.commitNow(tx => tx.albums.doubt(remote_id))
    asked.length = 0
    expect(found(await tree({ list: noList }).find(['Photos'], never)).remote_id).toBe(remote_id)
    expect(asked).not.toContain('create_album')
  })

  it('is not looked for without end where listings go on showing it', async () => {
    const { tree, host, there, asked } = await openAlbumStage()
    const lost = found(await tree().find(['Photos'], never))
    const { albums } = await there.list()
    await there.call('DELETE', `/delete?album=${lost.remote_id}`)
    const list = listingWith(host, page => ({ ...page, albums }))
    asked.length = 0
    const pass = tree({ list })
    for (const name of ['a', 'b', 'c'])
      expect(await pass.find(['Photos', name], never)).toMatchObject({ failure: { remedy: 'gone' } })
    expect(found(await pass.lookAgain(['Photos'], never, lost)).remote_id).toBe(lost.remote_id)
    expect(times(asked, 'create_album')).toBe(0)
    // The root once; the lost one before that, and then for each name.
    expect(times(asked, 'list')).toBe(1 + 4)
  })

  it('is no reason for a twin where it was made just now', async () => {
    const stage = await openAlbumStage()
    const albums = stage.tree(await lateListing(stage))
    const made = found(await albums.find(['Photos'], never))
    expect(found(await albums.lookAgain(['Photos'], never, made))).toEqual(made)
    expect((await stage.there.list()).albums).toHaveLength(1)
  })
})
