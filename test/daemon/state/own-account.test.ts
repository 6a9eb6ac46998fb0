import { expect, it, vi } from 'vitest'
import { hostOfOwnAccount } from '../../../src/daemon/state/own-account.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { listingWith, never } from '../../sync/album-stage.ts'
import { failure, green, openWith, openWorkshop, red, type Workshop } from '../../sync/workshop.ts'

const OTHER = { ok: false, failure: { remedy: 'key', code: 'OTHER_ACCOUNT' } }

/** Two pictures were uploaded with the key 'first'. `withKey`: the guarded host for a key. */
async function mirrored() {
  const workshop = await openWith({ 'red.png': red, 'a/green.png': green })
  const withKey = (key: string, host: ImageHost = workshop.host) =>
    hostOfOwnAccount(host, workshop.synced, key, systemClock)
  await workshop.pass({ host: withKey('first') })
  expect(workshop.synced.summaries.mirror(1)).toMatchObject({ synced: 2 })
  const deletion = async (list: ImageHost['list']) => {
    const host = withKey('second', hostWith(workshop.host, { list }))
    return host.deleteImage(await anyImage(workshop), never)
  }
  return { ...workshop, withKey, deletion }
}

const anyImage = async ({ synced }: Pick<Workshop, 'synced'>) => synced.images.latest()!.remote_id

it('a new key of the same account is checked once, and then accepted', async () => {
  const { host, withKey, ...workshop } = await mirrored()
  const list = vi.fn(host.list)
  const again = () => withKey('second', hostWith(host, { list }))
  expect(await again().deleteImage(await anyImage(workshop), never)).toMatchObject({ ok: true })
  expect(list).toHaveBeenCalledTimes(1)
  expect(await again().list(null, 1, never)).toMatchObject({ ok: true })
  expect(list).toHaveBeenCalledTimes(2)
  expect(workshop.synced.meta.get('key_mark')).not.toContain('second')
})

it("with another account's key nothing is uploaded, made or deleted", async () => {
  const { withKey, ...workshop } = await mirrored()
  const elsewhere = await mirrored()
  const host = withKey('second', elsewhere.host)
  const theirs = await anyImage(elsewhere)
  expect(await host.deleteImage(theirs, never)).toMatchObject(OTHER)
  expect(await host.createAlbum({ name: 'x' }, never)).toMatchObject(OTHER)
  expect(await host.list(null, 1, never)).toMatchObject(OTHER)
  workshop.write('new.png', red)
  const { stopped } = await workshop.pass({ host })
  expect(stopped).toMatchObject([{ code: 'OTHER_ACCOUNT' }])
  expect(workshop.synced.account.blocks()).toMatchObject([{ code: 'OTHER_ACCOUNT' }])
  expect(elsewhere.synced.images.byRemoteId(theirs)).toBeDefined()
  expect(await elsewhere.host.deleteImage(theirs, never)).toMatchObject({ ok: true })
  await workshop.pass({ host: withKey('first') })
  expect(workshop.synced.summaries.mirror(1)).toMatchObject({ synced: 3 })
})

it('another account stays a block of every endpoint, also after a pass that asks nothing, until a try finds its own', async () => {
  const { withKey, ...workshop } = await mirrored()
  const elsewhere = await mirrored()
  let answering = elsewhere.host
  const list: ImageHost['list'] = (...args) => answering.list(...args)
  const host = withKey('second', hostWith(workshop.host, { list }))
  expect(host.blocks()).toEqual([])
  expect(await host.list(null, 1, never)).toMatchObject(OTHER)
  const block = { code: 'OTHER_ACCOUNT', remedy: 'key', endpoint: 'list' }
  expect(host.blocks()).toMatchObject([block])
  const stopped = async () => (await workshop.pass({ host })).stopped
  expect(await stopped()).toMatchObject([block])
  expect(await stopped()).toEqual([])
  expect(workshop.synced.account.blocks()).toMatchObject([{ code: 'OTHER_ACCOUNT' }])
  host.unblock('upload')
  expect(host.blocks()).toEqual([])
  expect(host.blocks('untried')).toMatchObject([block])
  answering = workshop.host
  await workshop.pass({ host })
  expect(host.blocks('untried')).toEqual([])
  expect(workshop.synced.account.blocks()).toEqual([])
})

it.each([
  ['recorded ids', () => ({ name: 'theirs.png', width: 4000, height: 3000 })],
  ['recorded ids and sizes, but other names', (id: string) => ({ name: `HOLIDAY_${id}.png` })],
])("with another account's key nothing is sent where its images have %s", async (_, changed) => {
  const { host, deletion } = await mirrored()
  const list = listingWith(host, page => ({
    ...page,
    images: page.images.map(image => ({ ...image, ...changed(image.id) })),
  }))
  expect(await deletion(list)).toMatchObject(OTHER)
})

it.each([
  ['refuses', failure('not_permitted', 'FORBIDDEN', 'list')],
  ['calls unknown', failure('gone', 'ALBUM_NOT_FOUND', 'list')],
])("with another account's key nothing is sent where the host %s the recorded albums", async (_, refusal) => {
  const { deletion } = await mirrored()
  const elsewhere = await mirrored()
  const list: ImageHost['list'] = async (album, ...rest) =>
    album === null ? elsewhere.host.list(null, ...rest) : refusal
  expect(await deletion(list)).toMatchObject(OTHER)
})

it("an account that can't be listed is not called another one, and is checked again", async () => {
  const { host, withKey, ...workshop } = await mirrored()
  let answers = false
  const list: ImageHost['list'] = async (...args) =>
    answers ? host.list(...args) : failure('later', 'HOST_UNREACHABLE', 'list')
  const again = withKey('second', hostWith(host, { list }))
  const image = await anyImage(workshop)
  const unreachable = { failure: { code: 'HOST_UNREACHABLE', endpoint: 'delete' } }
  expect(await again.deleteImage(image, never)).toMatchObject(unreachable)
  answers = true
  expect(await again.deleteImage(image, never)).toMatchObject({ ok: true })
})

it("an album that can't be listed is skipped, and where no album can be judged the account is not called another one", async () => {
  const { host, deletion, ...workshop } = await mirrored()
  const [first, second] = workshop.synced.images
    .fullestAlbums(2)
    .map(album => workshop.synced.albums.byId(album!)!.remote_id)
  const broken = (shown: Pick<ImageHost, 'list'>): ImageHost['list'] => {
    return async (album, ...args) =>
      album === first ? failure('later', 'INTERNAL_ERROR', 'list') : shown.list(album, ...args)
  }
  const list = broken({ list: async () => failure('gone', 'NOT_FOUND', 'list') })
  expect(await deletion(list)).toMatchObject({ failure: { code: 'INTERNAL_ERROR', endpoint: 'delete' } })
  expect(second).not.toBe(first)
  expect(await deletion(broken(host))).toMatchObject({ ok: true })
})

it('recorded images are found behind many images of other programs', async () => {
  const { host, deletion } = await mirrored()
  const list: ImageHost['list'] = async (album, page, signal) => {
    const listed = await host.list(album, 1, signal)
    if (!listed.ok) return listed
    const { images, pagination } = listed.value
    const theirs = images.map(image => ({ ...image, id: `theirs ${page} ${image.id}` }))
    const value = { ...listed.value, images: page === 50 ? images : theirs }
    return { ok: true, value: { ...value, pagination: { ...pagination, page, total_pages: 50 } } }
  }
  expect(await deletion(list)).toMatchObject({ ok: true })
})

it('an account whose plan does not allow listing is accepted', async () => {
  const { deletion } = await mirrored()
  expect(await deletion(async () => failure('plan', 'PLAN_NOT_SUPPORTED', 'list'))).toMatchObject({
    ok: true,
  })
})

it('a state without images or without a key mark belongs to the first key that it is opened with', async () => {
  const elsewhere = await mirrored()
  const fresh = await openWorkshop()
  const host = hostOfOwnAccount(elsewhere.host, fresh.synced, 'any', systemClock)
  expect(await host.list(null, 1, never)).toMatchObject({ ok: true })
  const { withKey, synced } = await mirrored()
  synced.commitNow(tx => tx.meta.clear('key_mark'))
  expect(await withKey('second', elsewhere.host).list(null, 1, never)).toMatchObject({ ok: true })
  expect(await withKey('third', elsewhere.host).list(null, 1, never)).toMatchObject(OTHER)
})
