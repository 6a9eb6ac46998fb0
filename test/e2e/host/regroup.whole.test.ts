import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { startDaemon } from '../stage/process.ts'
import { QUICK, type Stage, setStage } from '../stage/stage.ts'

/** As `albumd host --plans-from flagship --plan professional`: no albums, no listings, no deletions. */
const SMALL = { plan: 'professional', plansFrom: 'flagship' } as const
const LARGE = { plan: 'flagship', plansFrom: 'flagship' } as const

interface Settings {
  pictures: number
  mirror?: object
  host?: object
}

/** Pictures in folders of their own, which the host of a small plan has in its root. Then the plan grows. */
async function upgraded({ pictures, mirror = {}, host = {} }: Settings): Promise<Stage> {
  const stage = await setStage({ host: { ...SMALL, credentialTtlMs: 5000 }, mirror })
  const { base_url, api_key_file } = { base_url: stage.baseUrl, api_key_file: 'api-key' }
  stage.configure({
    mirrors: [{ folder: 'pictures', album: 'Photos', ...mirror }],
    host: { base_url, api_key_file, requests_per_second: QUICK, credential_lifetime: '5s', ...host },
    deletions: { hold_min: 2, grace: '0' },
    quota: { probe_every: '1s' },
  })
  for (let n = 0; n < pictures; n++) stage.write(`${n % 3}/${n}.png`, png(2, 2, n).bytes)
  const flat = await stage.here('sync')
  expect(flat).toMatchObject({ code: 0 })
  expect(flat.out).toContain(`${pictures} pictures lie outside their albums`)
  await stage.restartHost(LARGE)
  expect(await stage.paths()).toEqual(names(pictures))
  return stage
}

const range = (pictures: number) => Array.from({ length: pictures }, (_, n) => n)
const names = (pictures: number) =>
  range(pictures)
    .map(n => `${n}.png`)
    .sort()
const inAlbums = (pictures: number) =>
  range(pictures)
    .map(n => `Photos/${n % 3}/${n}.png`)
    .sort()

describe('pictures that lie flat, once the plan has albums,', () => {
  it('go into them, each once, and their old images go', async () => {
    const stage = await upgraded({ pictures: 12 })
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ synced: 12, flat: 12 })
    expect(await stage.json('why', '1/1.png')).toMatchObject({
      state: 'synced',
      image: { album: '' },
      album: { path: 'Photos/1' },
      next: [{ code: 'flat_goes' }, {}],
    })
    const { out } = await stage.here('ls', '1', '--config', stage.config)
    expect(out.match(/ flat /g)).toHaveLength(4)
    expect((await stage.here('sync')).code).toBe(0)
    expect(await stage.paths()).toEqual(inAlbums(12))
    const before = await stage.listing()
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ synced: 12, flat: 0, held_deletions: 0 })
    expect(await stage.here('sync')).toMatchObject({ code: 0, out: expect.stringContaining('nothing to do') })
    expect(await stage.listing()).toEqual(before)
    expect(Object.keys(await stage.delivered()).sort()).toEqual(inAlbums(12))
  })

  it('take only what the day has to spare', async () => {
    const stage = await upgraded({ pictures: 12, host: { daily_quota: 20 } })
    const day = await stage.here('sync')
    expect(day).toMatchObject({ code: 0 })
    expect(day.out).toContain('6 pictures uploaded, 6 images deleted')
    expect(day.out).toContain('6 pictures lie outside their albums')
    const audit = await stage.json('audit')
    expect(audit.findings).toEqual([])
    expect(audit.flat).toHaveLength(6)
    expect(audit.flat[0]).toMatchObject({ album: '', belongs_in: expect.stringContaining('Photos/') })
    stage.write('new.png', png(3, 3).bytes)
    expect((await stage.here('sync')).out).toContain('1 picture uploaded')
    expect((await stage.json('status')).quota).toMatchObject({ used: 19 })
  })

  it('stay where they are by the config, and in a backup', async () => {
    const never = await upgraded({ pictures: 2, host: { regroup: 'never' } })
    expect((await never.here('sync')).code).toBe(0)
    expect(await never.paths()).toEqual(names(2))
    const backup = await upgraded({ pictures: 2, mirror: { deletions: 'keep' } })
    expect((await backup.here('sync')).code).toBe(0)
    expect(await backup.paths()).toEqual(names(2))
  })

  it('are there once after the process was killed on the way', async () => {
    const pictures = 30
    const stage = await upgraded({ pictures })
    for (const uploads of [3, 6, 10]) {
      const daemon = startDaemon(stage)
      await daemon.told('picture_uploaded', uploads)
      daemon.kill('SIGKILL')
      await daemon.ended
    }
    // What is in doubt goes on once its credential has expired.
    const afterSync = async () => {
      await stage.here('sync')
      return stage.paths()
    }
    await expect.poll(afterSync, { interval: 1000 }).toEqual(inAlbums(pictures))
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ synced: pictures, flat: 0 })
  })
})
