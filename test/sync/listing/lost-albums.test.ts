import { expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { showsItsOwn, tellingLostAlbums } from '../../../src/sync/listing/index.ts'
import { type AlbumStage, never, openAlbumStage } from '../album-stage.ts'

/** Albums A and A/B as albumd recorded them. */
async function stageOfTwo(unknownAlbum: 'NOT_FOUND' | 'FORBIDDEN' | 'INVALID_PARAMS') {
  const stage = await openAlbumStage({ readings: { unknownAlbum } })
  expect(await stage.tree().find(['A', 'B'], never)).toMatchObject({ ok: true })
  const [above, album] = ['A', 'B'].map(name => stage.synced.albums.all().find(row => row.name === name)!)
  return { stage, above: above!, album: album!.remote_id }
}

/** The remedies of a listing of an album and of an upload into it. */
async function remediesOf({ synced, host }: AlbumStage, album_id: string, changes: Partial<ImageHost> = {}) {
  const telling = tellingLostAlbums(hostWith(host, changes), synced, systemClock)
  const request = { file_name: 'a.png', file_size: 1, mime_type: 'image/png', width: 1, height: 1, album_id }
  const outcomes = [await telling.list(album_id, 1, never), await telling.requestUpload(request, never)]
  return outcomes.map(outcome => (outcome.ok ? 'taken' : outcome.failure.remedy))
}

it.each(['NOT_FOUND', 'FORBIDDEN', 'INVALID_PARAMS'] as const)(
  'an album that another person deleted is gone, where the host says %s',
  async code => {
    const { stage, above, album } = await stageOfTwo(code)
    expect(await remediesOf(stage, album)).toEqual(['taken', 'taken'])
    await stage.there.call('DELETE', `/delete?album=${above.remote_id}`)
    expect(await remediesOf(stage, album)).toEqual(['gone', 'gone'])
  },
)

it('an album that the host lists and refuses is not gone, and the album above is not listed for each refusal', async () => {
  const { stage, album } = await stageOfTwo('FORBIDDEN')
  const refusal = await stage.host.list('none', 1, never)
  const list: ImageHost['list'] = async (id, ...more) =>
    id === album ? (refusal as Awaited<ReturnType<ImageHost['list']>>) : stage.host.list(id, ...more)
  const asked = stage.asked.length
  expect(await remediesOf(stage, album, { list, requestUpload: async () => refusal as never })).toEqual([
    'not_permitted',
    'not_permitted',
  ])
  expect(stage.asked.slice(asked)).toEqual(['list'])
})

it('what the root lists too does not show that an album is there, because it may have strayed', async () => {
  const { stage, above } = await stageOfTwo('NOT_FOUND')
  const listed = await stage.host.list(above.remote_id, 1, never)
  const shown = (listed as Extract<typeof listed, { ok: true }>).value
  expect(showsItsOwn(stage.synced, above, shown)).toBe(true)
  expect(showsItsOwn(stage.synced, above, shown, shown)).toBe(false)
})
