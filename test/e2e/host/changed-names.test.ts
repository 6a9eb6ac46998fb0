import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { drawn } from '../../protocol/jpeg/jpegs.ts'
import { photo } from '../../sync/delivered/altering-host.ts'
import { type Asked, startEditProxy } from '../stage/edit-proxy.ts'
import { QUICK, type Stage, setStage } from '../stage/stage.ts'

const LONG = 'a name that is longer than this host likes names to be'

/** Pictures of one format and equal dimensions, so that their listings tell little. */
const PICTURES: Record<string, Uint8Array> = {
  'IMG_1.JPEG': drawn({ seed: 1 }),
  'Trip & Töne/IMG_1.JPEG': drawn({ seed: 2 }),
  'Trip & Töne/it’s 3:15 "late".png': png(3, 2, 3).bytes,
  [`Trip & Töne/${LONG}.png`]: png(3, 2, 4).bytes,
  [`${LONG}/ß (2).png`]: png(3, 2, 5).bytes,
}

const escaped = (name: string) =>
  name.replaceAll('&', '&amp;').replaceAll('"', '&#34;').replaceAll('’', '&#x2019;')

const CHANGES: Record<string, (name: string) => string> = {
  'in lower case, with the usual extension': name => name.toLowerCase().replace(/\.jpeg$/, '.jpg'),
  'with _ for what is no letter': name => name.replace(/[^\p{L}\p{N}.]/gu, '_'),
  'with _ for what is not ASCII': name => name.replace(/[^\w. ]/gu, '_'),
  'cut before the extension': name => name.replace(/^(.{36}).*(\.\w+)$/, '$1$2'),
  'with a number': name => name.replace(/(\.\w+)?$/, ' (1)$1'),
  'with HTML escapes': escaped,
  'in another Unicode form': name => name.normalize('NFKD'),
}

async function hostThat(change: (name: string) => string): Promise<{ stage: Stage; asked: Asked[] }> {
  const stage = await setStage()
  const asked: Asked[] = []
  const base_url = await startEditProxy(stage.baseUrl, request => {
    asked.push(request)
    for (const field of ['file_name', 'name'])
      if (request.body?.[field]) request.body[field] = change(request.body[field])
    return undefined
  })
  stage.configure({
    host: { base_url, api_key_file: 'api-key', requests_per_second: QUICK },
    uploads: { concurrency: 4 },
  })
  return { stage, asked }
}

const made = (asked: readonly Asked[]) => asked.filter(({ method }) => method !== 'GET')

/** The state is lost, and a pass begins a new one. */
async function afresh(stage: Stage, asked: Asked[]) {
  rmSync(join(stage.home, 'state'), { recursive: true })
  asked.length = 0
  return stage.pass()
}

describe('a host that lists names', () => {
  it.each(Object.entries(CHANGES))('%s gets nothing twice after a lost state', async (_, change) => {
    const { stage, asked } = await hostThat(change)
    for (const [path, bytes] of Object.entries(PICTURES)) stage.write(path, bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const before = { images: await stage.listing(), albums: await stage.albums() }
    for (let starts = 0; starts < 2; starts++) {
      expect(await afresh(stage, asked)).toMatchObject({ exit_code: 0 })
      expect(made(asked)).toEqual([])
      expect({ images: await stage.listing(), albums: await stage.albums() }).toEqual(before)
    }
    const { mirrors } = await stage.status()
    expect(mirrors).toMatchObject([{ files: 5, uncertain: 0, failed: 0, pending_uploads: 0 }])
    stage.write('Trip & Töne/new.png', png(3, 2, 9).bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.albums()).toEqual(before.albums)
  })
})

describe('an image under a name that the host may have made', () => {
  it('is not taken for a picture with other bytes, once a delivery has shown that the host keeps them', async () => {
    const { stage, asked } = await hostThat(name => name)
    stage.write('img.jpg', photo(1).sent)
    stage.write('other.jpg', photo(2).sent)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    rmSync(join(stage.pictures, 'img.jpg'))
    stage.write('IMG.JPG', photo(3).sent)
    expect(await afresh(stage, asked)).toMatchObject({ exit_code: 0 })
    expect(await stage.paths()).toEqual(['Photos/IMG.JPG', 'Photos/img.jpg', 'Photos/other.jpg'])
  })

  it('is left to the picture beside it that has this name', async () => {
    const { stage, asked } = await hostThat(name => name)
    const { bytes } = png(3, 2, 1)
    stage.write('img.png', bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    stage.write('IMG.PNG', bytes)
    expect(await afresh(stage, asked)).toMatchObject({ exit_code: 0 })
    expect(made(asked).map(({ body }) => body.file_name)).toEqual(['IMG.PNG'])
  })
})

it('an album is left to the folder that has its name', async () => {
  const { stage, asked } = await hostThat(name => name)
  stage.write('trip/a.png', png(3, 2, 1).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  stage.write('Trip/b.png', png(3, 2, 2).bytes)
  expect(await afresh(stage, asked)).toMatchObject({ exit_code: 0 })
  expect(await stage.paths()).toEqual(['Photos/Trip/b.png', 'Photos/trip/a.png'])
})
