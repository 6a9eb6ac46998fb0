import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { openWorkshop } from '../workshop.ts'

it('sends flat pictures by the presign form, into the default album too, and makes no album for others', async () => {
  const workshop = await openWorkshop({ album: '' }, { uploadForm: 'presign', defaultAlbum: 'Inbox' })
  for (const name of ['a.png', 'b.png', 'c.png']) workshop.write(name, png(2, 2, name.charCodeAt(0)).bytes)
  await workshop.pass()
  workshop.write('d.png', png(2, 2, 4).bytes)
  workshop.write('below/e.png', png(2, 2, 5).bytes)
  await workshop.pass()
  const sent = workshop.events.flatMap(emitted => (emitted.event === 'picture_uploaded' ? emitted.path : []))
  expect(sent.sort()).toEqual(['a.png', 'b.png', 'c.png', 'd.png'])
  const failed = workshop.events.flatMap(emitted => (emitted.event === 'picture_failed' ? [emitted] : []))
  expect(failed).toMatchObject([{ path: 'below/e.png', code: 'PRESIGN_ALBUM' }])
  const root = await workshop.host.list(null, 1, new AbortController().signal)
  expect(root.ok && root.value.albums.map(({ name }) => name)).toEqual(['Inbox'])
})
