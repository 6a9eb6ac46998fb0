import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { DAY_MS, systemClock } from '../../../src/protocol/clock.ts'
import { ask, setPageStage } from '../../page/page-stage.ts'
import { png } from '../../pictures.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'
import { atTerminal, hasScript } from '../stage/terminal.ts'

const pictures = Object.fromEntries(
  Array.from({ length: 12 }, (_, n) => [`${n % 2 ? 'odd' : 'even'}/${n}.png`, png(2 + n, 2).bytes]),
)
const GONE = ['even/0.png', 'odd/1.png', 'odd/3.png', 'odd/5.png']

/** A slip, as of `rsync --delete` from an older copy. */
function slip({ pictures: folder }: Stage): void {
  for (const path of GONE) rmSync(join(folder, path))
}

describe('sync and many deletions', () => {
  it('leaves them, lists them a line a folder with until when, and deletes what is approved', async () => {
    const stage = await setStage({ pictures })
    slip(stage)
    expect(await stage.here('sync', '--dry-run')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^wait odd\/1\.png \(many .*, until .* at the earliest\)/m),
    })
    const { code, out } = await stage.sync()
    expect([code, out]).toEqual([3, expect.stringContaining('4 to delete')])
    expect(await stage.listing()).toHaveLength(12)
    const listed = (await stage.here('deletions', 'list')).out
    expect(listed).toMatch(/^even \(1 image\): .*, (?:at|until) 20/m)
    expect(listed).toMatch(/^odd \(3 images\): .*, (?:at|until) 20/m)
    expect((await stage.here('deletions', 'list', '--all')).out).toMatch(/^odd\/3\.png /m)
    const { deletions } = await stage.json('deletions', 'list')
    expect(deletions).toMatchObject(GONE.map(path => ({ path, state: 'many' })))
    for (const { since, goes_at } of deletions)
      expect(Math.abs(Date.parse(goes_at) - Date.parse(since) - 86_400_000)).toBeLessThan(60_000)
    expect((await stage.json('status')).mirrors).toMatchObject([
      {
        pending_deletions: 4,
        held_deletions: 0,
        many: { deletions: 4, folders: { named: ['odd', 'even'] } },
      },
    ])
    expect(await stage.pass()).toMatchObject({ exit_code: 3, deleted: 0 })
    await stage.here('deletions', 'approve', 'odd')
    expect(await stage.pass()).toMatchObject({ exit_code: 3, deleted: 3 })
    await stage.here('deletions', 'approve')
    expect(await stage.pass()).toMatchObject({ exit_code: 0, deleted: 1 })
  })

  it('lists replaced versions as such, says the same of all that wait, and of a copy where its twin lies', async () => {
    const stage = await setStage({ pictures: { ...pictures, 'copy.png': pictures['odd/1.png']! } })
    slip(stage)
    rmSync(join(stage.pictures, 'copy.png'))
    stage.write('odd/1.png', pictures['odd/1.png']!)
    for (const n of [7, 9]) stage.write(`odd/${n}.png`, png(40 + n, 2).bytes)
    await stage.sync()
    rmSync(join(stage.pictures, 'even/2.png'))
    await stage.sync()
    const listed = (await stage.here('deletions', 'list')).out
    expect(listed).toMatch(/^odd \(2 images\): /m)
    expect(listed).toMatch(/^odd \(2 replaced versions\): /m)
    const { deletions } = await stage.json('deletions', 'list')
    expect(deletions).toHaveLength(6)
    const many = deletions.map(({ next }: { next: { what: string }[] }) =>
      next[0]!.what.replace(/^.* waits/, ''),
    )
    expect(new Set(many).size).toBe(1)
    expect((await stage.json('why', 'copy.png')).history.at(-1)).toMatchObject({
      event: 'deleted',
      detail: 'the same picture lies at odd/1.png',
    })
  })

  it('waits on for the whole of grace_many when the clock was behind and is set', async () => {
    const stage = await setStage({ pictures })
    slip(stage)
    onTestFinished(() => void vi.restoreAllMocks())
    const clock = vi.spyOn(systemClock, 'wall')
    clock.mockImplementation(() => Date.now() - 10 * DAY_MS)
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    clock.mockImplementation(() => Date.now())
    expect(await stage.pass()).toMatchObject({ exit_code: 3, deleted: 0 })
  })

  it('deletes what is still gone with the first sync that begins grace_many later by the clock', async () => {
    const stage = await setStage({ pictures, config: { deletions: { grace_many: '2s' } } })
    slip(stage)
    expect(await stage.sync()).toMatchObject({ code: 3 })
    stage.write('odd/1.png', pictures['odd/1.png']!)
    await expect.poll(async () => (await stage.sync()).code, { timeout: 20_000 }).toBe(0)
    expect(await stage.listing()).toHaveLength(9)
  })

  it.runIf(hasScript)('asks a person at a terminal, and does what that says', async () => {
    const stage = await setStage({ pictures })
    slip(stage)
    const first = atTerminal(stage, 'sync -c albumd.yaml')
    await first.answer('or let wait (no)?', '\r')
    expect(await first.ended).toBe(3)
    const all = atTerminal(stage, 'deletions approve -c albumd.yaml')
    await all.answer('Delete all 4 images (yes or no)? [no]:', '\r')
    expect(await all.ended).toBe(3)
    const second = atTerminal(stage, 'sync -c albumd.yaml')
    await second.answer('or let wait (no)?', 'y\r')
    expect(await second.ended).toBe(0)
    expect(await stage.listing()).toHaveLength(8)
  })
})

it('a daemon tells of many at once, which is no trouble, and of their end', async () => {
  const stage = await setPageStage({ pictures })
  const at = join(stage.home, 'told')
  stage.configure({ notify: { on_trouble: `env > ${at}.tmp && mv ${at}.tmp ${at}` } })
  const daemon = await stage.run(daemonHere)
  await daemon.told('scan_finished')
  slip(stage)
  expect(await daemon.told('deletions_many')).toMatchObject({ pictures: 8 })
  const env = (name: string) =>
    existsSync(at) && new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(at, 'utf8'))?.[1]
  await expect.poll(() => env('ALBUMD_CODE'), { timeout: 20_000 }).toBe('MANY')
  for (const word of ['odd', ' until 20', '"albumd deletions approve"', '"discard"'])
    expect(env('ALBUMD_MESSAGE')).toContain(word)
  await expect.poll(async () => (await stage.status()).mirrors).toMatchObject([{ many: { deletions: 4 } }])
  expect(await ask({ port: stage.port, path: '/healthz' })).toMatchObject({ status: 200, text: 'ok\n' })
  const page = await ask({ port: stage.port, path: '/' })
  expect(page.text).toContain('will be deleted')
  await stage.here('deletions', 'discard')
  await expect.poll(async () => (await stage.status()).mirrors).toMatchObject([{ many: null }])
  expect(await daemon.stop()).toBe(0)
})
