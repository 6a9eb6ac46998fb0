import { expect, it } from 'vitest'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { png } from '../../pictures.ts'
import { contentOf, never, putImage, remoteAlbum } from '../album-stage.ts'
import { count, failure, green, openWorkshop, red, summary } from '../workshop.ts'

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
