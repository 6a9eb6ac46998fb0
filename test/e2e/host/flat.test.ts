import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { setStage } from '../stage/stage.ts'

it('a picture lies flat until it changes, also once the plan has albums', async () => {
  // A plan without albums, listings and deletions, and then one with all of them.
  const stage = await setStage({ host: { plan: 'professional', plansFrom: 'flagship' } })
  stage.write('one/one.png', png(2, 2).bytes)
  stage.write('two/two.png', png(3, 3).bytes)
  const first = await stage.here('sync')
  expect(first).toMatchObject({
    code: 0,
    out: expect.stringContaining('2 pictures outside their albums'),
  })
  await stage.restartHost({ plan: 'flagship', plansFrom: 'flagship' })
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0 })
  expect(await stage.paths()).toEqual(['one.png', 'two.png'])
  expect(await stage.json('why', 'one/one.png')).toMatchObject({
    state: 'synced',
    image: { album: '' },
    album: { path: 'Photos/one' },
    next: [{ code: 'flat_stays' }],
  })
  expect((await stage.here('ls', 'one', '--config', stage.config)).out).toContain(' flat ')
  stage.write('one/one.png', png(4, 4).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 1 })
  expect(await stage.paths()).toEqual(['Photos/one/one.png', 'two.png'])
  expect((await stage.json('status')).mirrors[0]).toMatchObject({ synced: 2, flat: 1 })
})
