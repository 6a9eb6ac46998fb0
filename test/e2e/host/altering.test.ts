import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { photo } from '../../sync/delivered/altering-host.ts'
import { startAlteringProxy } from '../stage/altering-proxy.ts'
import { QUICK, runHere, setStage } from '../stage/stage.ts'

const PHOTOS = [1, 2, 3, 4].map(photo)

it.each([
  ['strip', 'without metadata', { synced: 4, linked: 0 }],
  ['encode', 'encoded anew', { synced: 0, linked: 4 }],
] as const)(
  'a host that alters pictures (%s) is sent none again when the state is lost',
  async (kind, delivery, kept) => {
    const stage = await setStage()
    const made = (sent: Buffer) => PHOTOS.find(photo => photo.sent.equals(sent))?.[kind] ?? sent
    const base_url = await startAlteringProxy(stage.baseUrl, made)
    stage.configure({
      host: { base_url, api_key_file: 'api-key', requests_per_second: QUICK, credential_lifetime: '1s' },
    })
    for (const [n, { sent }] of PHOTOS.entries()) stage.write(`${n}.jpg`, sent)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect(await stage.status()).toMatchObject({ delivery: { jpeg: delivery } })
    const init = ['init', '--base-url', base_url, '--folder', 'pictures', '--config', 'new.yaml']
    const env = { ALBUMD_API_KEY: stage.key, STATE_DIRECTORY: join(stage.home, 'state') }
    const out = expect.stringContaining(`JPEG ${delivery}`)
    expect(await runHere(init, stage.home, env)).toMatchObject({ code: 0, out })
    for (const [command, ...options] of [['status'], ['doctor', '--all']] as const)
      expect(await stage.here(command, ...options, '--config', stage.config)).toMatchObject({ out })
    const before = await stage.paths()
    rmSync(join(stage.home, 'state'), { recursive: true })
    await stage.pass()
    expect(await stage.status()).toMatchObject({ mirrors: [kept] })
    expect(await stage.paths()).toEqual(before)
  },
)
