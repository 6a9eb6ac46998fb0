import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { type Asked, startEditProxy } from '../stage/edit-proxy.ts'
import { call, QUICK, type Stage, setStage } from '../stage/stage.ts'

const picture = (seed: number) => png(3, 2, seed).bytes

/** A host for which an album that it does not know is the root, and that has these pictures. */
async function hostWith(paths: string[]): Promise<{ stage: Stage; asked: Asked[] }> {
  const stage = await setStage()
  const asked: Asked[] = []
  const isKnown = async (id: string) => {
    const url = `${stage.baseUrl}/list?album_id=${id}`
    return (await fetch(url, { headers: { 'x-api-key': stage.key } })).ok
  }
  const base_url = await startEditProxy(stage.baseUrl, async request => {
    asked.push(request)
    const { body, query } = request
    const listed = query.get('album_id')
    if (listed !== null && !(await isKnown(listed))) query.delete('album_id')
    for (const field of ['album_id', 'parent_album'])
      if (body?.[field] && !(await isKnown(body[field]))) delete body[field]
    return undefined
  })
  stage.configure({
    host: { base_url, api_key_file: 'api-key', requests_per_second: QUICK },
    uploads: { concurrency: 4 },
  })
  for (const [n, path] of paths.entries()) stage.write(path, picture(n))
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  asked.length = 0
  return { stage, asked }
}

async function deleteAlbum(stage: Stage, path: string): Promise<void> {
  let id = ''
  for (const part of path.split('/')) {
    const { data } = await call(stage, 'GET', `/list${id && `?album_id=${id}`}`)
    id = data.albums.find(({ name }: { name: string }) => name === part).id
  }
  await call(stage, 'DELETE', `/delete?album=${id}`)
}

/** Another person uploads a picture into the root. */
async function uploadToRoot(stage: Stage, file_name: string): Promise<void> {
  const bytes = picture(200)
  const request = { file_name, file_size: bytes.length, mime_type: 'image/png', width: 3, height: 2 }
  const { data } = await call(stage, 'POST', '/upload', request)
  const body = new FormData()
  body.append('file', new Blob([new Uint8Array(bytes)]), file_name)
  expect((await fetch(data.upload_url, { method: 'POST', body })).ok).toBe(true)
}

describe('a host that takes an unknown album for the root', () => {
  it('gets the next picture into an album made anew, once another person has deleted it', async () => {
    const { stage } = await hostWith(['red.png', 'trip/blue.png', 'trip/deep/white.png'])
    await deleteAlbum(stage, 'Photos/trip')
    stage.write('trip/green.png', picture(104))
    stage.write('trip/deep/black.png', picture(105))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.paths()).toEqual([
      'Photos/red.png',
      'Photos/trip/deep/black.png',
      'Photos/trip/green.png',
    ])
    expect(await stage.albums()).toEqual(['Photos', 'Photos/trip', 'Photos/trip/deep'])
  })

  it('gets no album into its root, once the album above is deleted', async () => {
    const { stage } = await hostWith(['red.png'])
    await deleteAlbum(stage, 'Photos')
    await call(stage, 'POST', '/create_album', { name: 'trip' })
    stage.write('trip/green.png', picture(104))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.paths()).toEqual(['Photos/trip/green.png'])
    expect(await stage.albums()).toEqual(['Photos', 'Photos/trip', 'trip'])
  })

  it('is asked for one listing of the album above before the first picture, however many albums are in it', async () => {
    const names = Array.from({ length: 20 }, (_, n) => `${n}`)
    const { stage, asked } = await hostWith(names.map(name => `${name}/a.png`))
    for (const [n, name] of names.entries()) stage.write(`${name}/b.png`, picture(100 + n))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const first = asked.findIndex(({ path }) => path === '/upload')
    const lists = asked.slice(0, first).map(({ query }) => query.get('album_id'))
    // Of the root, of the album above, and of those whose pictures come first.
    expect(lists.length).toBeLessThanOrEqual(3 + 8)
    expect(asked.filter(({ path }) => path === '/list').length).toBeLessThanOrEqual(3 + names.length)
  })

  it('shows by an audit what is gone with its album, and gets it back by a repair', async () => {
    const { stage } = await hostWith(['red.png', 'trip/blue.png'])
    await deleteAlbum(stage, 'Photos/trip')
    await uploadToRoot(stage, 'theirs.png')
    const { findings } = await stage.json('audit')
    expect(findings).toMatchObject([{ kind: 'gone', album: 'Photos/trip' }])
    expect(findings).toHaveLength(1)
    await stage.json('audit', '--repair')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.paths()).toEqual(['Photos/red.png', 'Photos/trip/blue.png', 'theirs.png'])
  })
})
