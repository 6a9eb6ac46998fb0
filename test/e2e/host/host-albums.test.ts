import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { some } from '../../pictures.ts'
import { startEditProxy } from '../stage/edit-proxy.ts'
import { configure, loseState, move, setting } from '../stage/fault-stage.ts'
import type { Stage } from '../stage/stage.ts'
import { call } from '../stage/stage.ts'

/** Answers the id of an album that another program makes. */
async function makeAlbum(stage: Stage, name: string, parent_album: string | null = null): Promise<string> {
  return (await call(stage, 'POST', '/create_album', { name, parent_album })).data.album.id
}

describe('a host', () => {
  it('that refuses names has the pictures in the album above, asks for nothing twice, and no pass fails', async () => {
    const stage = await setting()
    const refusals: string[] = []
    const baseUrl = await startEditProxy(stage.baseUrl, ({ path, body }) => {
      if (path !== '/create_album') return undefined
      if (body.name.trim() === '') {
        refusals.push(body.name)
        return { status: 400, code: 'MISSING_NAME' }
      }
      if (/[\u0000-\u001f]/.test(body.name)) {
        refusals.push(body.name)
        return { status: 400, code: 'VALIDATION_ERROR' }
      }
      return undefined
    })
    configure(stage, {}, baseUrl)
    for (const folder of [' ', '\u3000', 'a\nb', 'good'])
      stage.write(`${folder}/${folder.length} of it.png`, some())
    stage.write(' /deeper/in it.png', some())
    stage.write('a\nb/second of it.png', some())
    expect(await stage.here('sync')).toMatchObject({ code: 0, err: '' })
    const expected = [
      'Photos/1 of it.png',
      'Photos/1 of it.png',
      'Photos/3 of it.png',
      'Photos/good/4 of it.png',
      'Photos/in it.png',
      'Photos/second of it.png',
    ]
    expect(await stage.paths()).toEqual(expected)
    expect(refusals.sort()).toEqual([' ', 'a\nb', '\u3000'])
    expect((await stage.here('sync')).out).toContain('nothing to do')
    expect(refusals).toHaveLength(3)
    expect((await stage.here('audit', '--config', stage.config)).code).toBe(0)

    move(stage, ' ', 'blank')
    rmSync(join(stage.pictures, 'a\nb/second of it.png'))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.paths()).toEqual([
      'Photos/1 of it.png',
      'Photos/3 of it.png',
      'Photos/blank/1 of it.png',
      'Photos/blank/deeper/in it.png',
      'Photos/good/4 of it.png',
    ])
  })

  it('with a default album has what is in no album there, which is found out, said, and worked with', async () => {
    const stage = await setting()
    const inbox = await makeAlbum(stage, 'Inbox')
    let withoutAlbum = 0
    const baseUrl = await startEditProxy(stage.baseUrl, ({ path, body }) => {
      if (path === '/upload' && body.album_id === undefined) {
        withoutAlbum++
        body.album_id = inbox
      }
      return undefined
    })
    const mirrors = { mirrors: [{ folder: 'pictures', album: '' }] }
    configure(stage, mirrors, baseUrl)
    for (let n = 0; n < 6; n++) stage.write(`${n}.png`, some())
    stage.write('a/in it.png', some())
    const first = await stage.here('sync')
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toContain("pictures of the host's root go to the account's default album Inbox\n")
    const expected = [...[0, 1, 2, 3, 4, 5].map(n => `Inbox/${n}.png`), 'a/in it.png']
    expect(await stage.paths()).toEqual(expected)
    // The first of them has shown where they go.
    expect(withoutAlbum).toBe(1)
    const before = await stage.listing()
    expect((await stage.here('audit', '--config', stage.config)).code).toBe(0)

    stage.write('0.png', some())
    renameSync(join(stage.pictures, '1.png'), join(stage.pictures, 'a/1.png'))
    rmSync(join(stage.pictures, '2.png'))
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const changed = [...[0, 3, 4, 5].map(n => `Inbox/${n}.png`), 'a/1.png', 'a/in it.png']
    expect(await stage.paths()).toEqual(changed)
    expect((await stage.listing()).filter(line => before.includes(line))).toHaveLength(4)
    expect(withoutAlbum).toBe(1)

    const known = await stage.listing()
    loseState(stage)
    await stage.pass()
    await stage.pass()
    expect(await stage.listing()).toEqual(known)
  })
})
