import { createHash } from 'node:crypto'
import { renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { putImage, remoteAlbum } from '../../sync/album-stage.ts'
import { green, red } from '../../sync/workshop.ts'
import { asked, events } from './asked.ts'

describe('why, of a picture', () => {
  it('tells everything from the scan that found a picture to the deletion of its image', async () => {
    const at = await asked()
    const picture = png(4, 3).bytes
    at.write('a/one.png', picture)
    expect(at.why('a/one.png')).toMatchObject({ state: 'unseen', image: null, history: [] })
    await at.pass()
    const synced = at.why('a/one.png')
    expect(synced).toMatchObject({
      path: join(at.pictures, 'a/one.png'),
      state: 'synced',
      album: { path: 'Photos/a', id: expect.any(String) },
      sha256: createHash('sha256').update(picture).digest('hex'),
      image: {
        album: 'Photos/a',
        name: 'one.png',
        proof: 'uploaded',
        cdn_url: expect.stringMatching(/^http/),
      },
      next: [],
    })
    expect(events(synced)).toEqual(['uploaded'])

    at.write('a/one.png', png(14, 3).bytes)
    utimesSync(join(at.pictures, 'a/one.png'), 1, 1)
    expect(at.why('a/one.png').reason).toContain('(since then changed from ')
    await at.pass()
    const changed = at.why('a/one.png')
    expect(events(changed)).toEqual(['uploaded', 'changed', 'uploaded', 'deleted'])
    expect(changed.history.slice(-2)).toMatchObject([
      { detail: 'the old image is to be deleted' },
      { detail: 'an older version' },
    ])

    renameSync(join(at.pictures, 'a/one.png'), join(at.pictures, 'two.png'))
    await at.pass()
    expect(at.why('two.png').history).toMatchObject([{ event: 'uploaded', detail: 'moved from a/one.png' }])
    const moved = at.why('a/one.png')
    expect(moved).toMatchObject({ state: 'absent', image: null, next: [] })
    expect(moved.reason).toContain('the same picture lies at two.png')
    expect(events(moved).slice(-2)).toEqual(['gone', 'deleted'])

    rmSync(join(at.pictures, 'two.png'))
    await at.pass()
    expect(at.why('two.png').reason).toContain('the image was deleted (gone from the disk)')
  })

  it('names each of the images of older versions that wait, and an image that is used again', async () => {
    const at = await asked()
    const versions = [4, 14, 24].map(width => png(width, 3).bytes)
    for (const bytes of versions) {
      at.write('one.png', bytes)
      await at.pass({ graceMs: 600_000 })
    }
    const { deletions, next } = at.why('one.png')
    const path = join(at.pictures, 'one.png')
    expect(next.map(({ what, command }) => [what.replace(/ is deleted once .*/, ''), command])).toEqual([
      [`the image ${deletions[0]!.image_id}`, null],
      ['to let all 2 images be deleted without a grace', `albumd deletions approve ${path}`],
      ['to keep all 2 images for good', `albumd deletions discard ${path}`],
      [`the image ${deletions[1]!.image_id}`, null],
    ])
    at.write('one.png', versions[0]!)
    await at.pass({ graceMs: 600_000 })
    expect(at.why('one.png').history.at(-1)).toMatchObject({
      event: 'unchanged',
      detail: 'the bytes are on the host, and their image is used again; the old image is to be deleted',
    })
  })

  it('tells equal pictures that moved together apart by their names, else by when they went', async () => {
    const at = await asked()
    const graceMs = 600_000
    const from = (path: string) => at.why(path).history.find(({ event }) => event === 'uploaded')!.detail
    for (const name of ['one.png', 'two.png', 'three.png']) at.write(`a/${name}`, png(4, 3).bytes)
    await at.pass({ graceMs })
    renameSync(join(at.pictures, 'a'), join(at.pictures, 'b'))
    await at.pass({ graceMs })
    for (const name of ['one.png', 'two.png', 'three.png']) {
      expect(from(`b/${name}`)).toBe(`moved from a/${name}`)
      expect(at.why(`a/${name}`).reason).toBe(`the same picture lies at b/${name}`)
    }
    renameSync(join(at.pictures, 'b/two.png'), join(at.pictures, 'b/2.png'))
    await at.pass({ graceMs })
    expect(from('b/2.png')).toBe('moved from b/two.png')
  })

  it('tells why an image of its name stays on the host when the picture is gone', async () => {
    const at = await asked()
    const album = await remoteAlbum(at.host, 'Photos', null)
    await putImage(at.host, album, 'other.png', { ...png(3, 2), bytes: green })
    at.write('other.png', red)
    await at.pass()
    // The address of an own upload shows where linked images can be fetched.
    at.write('first.png', png(9, 9).bytes)
    await at.pass()
    at.remove('other.png')
    await at.pass()
    const told = at.why('other.png')
    expect(told).toMatchObject({
      state: 'absent',
      reason: 'an image of this name stays on the host, because its bytes are those of another picture',
    })
    expect(events(told)).toEqual(['linked', 'gone', 'kept'])
  })

  it('notes that the bytes are unchanged under a new modification time, and does not note a touch', async () => {
    const at = await asked()
    at.write('p.png', png(3, 3).bytes)
    await at.pass()
    utimesSync(join(at.pictures, 'p.png'), 1, 1)
    await at.pass()
    expect(events(at.why('p.png'))).toEqual(['uploaded', 'changed', 'unchanged'])
    await at.pass()
    expect(at.why('p.png').history).toHaveLength(3)
  })

  it('tells where a copy lies that was on the host before', async () => {
    const at = await asked()
    at.write('a/p.png', png(3, 3).bytes)
    at.write('copy.png', png(3, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'a'), { recursive: true })
    await at.pass({ graceMs: 600_000 })
    expect(at.why('a/p.png')).toMatchObject({ state: 'gone', cause: 'MOVED' })
    await at.decide('approve', 'a/p.png')
    await at.pass()
    expect(at.events).toContainEqual(
      expect.objectContaining({ event: 'image_deleted', path: 'a/p.png', moved_to: 'copy.png' }),
    )
  })

  it('keeps an image that a backup holds, and says so', async () => {
    const at = await asked({ deletions: 'keep' })
    at.write('p.png', png(3, 3).bytes)
    at.write('q.png', png(4, 3).bytes)
    await at.pass()
    rmSync(join(at.pictures, 'p.png'))
    await at.pass()
    const kept = at.why('p.png')
    expect(kept).toMatchObject({ state: 'kept', image: { name: 'p.png' }, deletions: [] })
    expect(kept.reason).toContain('this mirror keeps images')
    expect(events(kept)).toEqual(['uploaded', 'kept'])
  })
  it('calls no image old that another picture of the same bytes uses', async () => {
    const at = await asked()
    const picture = png(3, 3).bytes
    const paths = ['a/p.png', 'b/p.png']
    for (const path of paths) at.write(path, picture)
    await at.pass()
    for (const path of paths) rmSync(join(at.pictures, path))
    await at.pass({ graceMs: 600_000 })
    await at.decide('discard', 'a/p.png')
    await at.decide('discard', 'b/p.png')
    expect(at.why('a/p.png')).toMatchObject({ state: 'kept', kept: [] })
    for (const path of paths) at.write(path, picture)
    await at.pass()
    expect(at.why('a/p.png')).toMatchObject({ state: 'synced', image: { album: 'Photos/a' }, kept: [] })
  })
})
