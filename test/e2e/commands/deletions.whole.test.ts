import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { startEditProxy } from '../stage/edit-proxy.ts'
import { daemonHere } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

const hold = { deletions: { hold_above: '25%', hold_min: 1 } }
const picturesOf = (...names: number[]) =>
  Object.fromEntries(names.map(n => [`a/${n}.png`, png(2 + n, 2).bytes]))

/** Most of its pictures are gone, and no pass has seen that yet. */
async function withGone(): Promise<Stage> {
  const stage = await setStage({ pictures: picturesOf(0, 1, 2, 3), config: hold })
  for (const n of [0, 1, 2]) rmSync(join(stage.pictures, `a/${n}.png`))
  return stage
}

async function withHeld(): Promise<Stage> {
  const stage = await withGone()
  expect(await stage.pass()).toMatchObject({ exit_code: 3, mirrors: [{ held_deletions: 3 }] })
  return stage
}

it('held deletions are listed with what would go, and go when they are approved', async () => {
  const stage = await withGone()
  expect(await stage.here('sync')).toMatchObject({ code: 3 })
  expect(await stage.listing()).toHaveLength(4)
  expect((await stage.status()).mirrors[0]).toMatchObject({ held_deletions: 3, pending_deletions: 0 })
  const held = { state: 'held', approved: false, reason: 'deleted', goes_at: null }
  expect((await stage.json('deletions', 'list')).deletions).toMatchObject(
    [0, 1, 2].map(n => ({ ...held, path: `a/${n}.png` })),
  )
  // Below the working folder, as a shell completes it.
  expect((await stage.json('deletions', 'approve', 'pictures/a/1.png')).deletions).toMatchObject([
    { path: 'a/1.png', state: 'grace', approved: true, next: [{ code: 'goes_next' }, { code: 'run_sync' }] },
  ])
  expect(await stage.listing()).toHaveLength(4)
  expect((await stage.json('status')).mirrors[0]).toMatchObject({
    pending_deletions: 1,
    approved_deletions: 1,
    held_deletions: 2,
    many: null,
  })
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  expect(await stage.paths()).toEqual([0, 2, 3].map(n => `Photos/a/${n}.png`))
  await stage.here('deletions', 'approve')
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.paths()).toEqual(['Photos/a/3.png'])
})

it('with several mirrors deletions are listed by whole paths, and a path of several mirrors is refused', async () => {
  const stage = await setStage()
  const dirs = ['one', 'two'].map(name => join(stage.home, name))
  stage.configure({ mirrors: dirs.map(folder => ({ folder, album: folder.slice(-3) })), ...hold })
  for (const dir of dirs) {
    mkdirSync(join(dir, 'a'), { recursive: true })
    for (const n of [0, 1, 2, 3]) writeFileSync(join(dir, `a/${n}.png`), png(2 + n, dir.length).bytes)
  }
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  for (const dir of dirs) for (const n of [0, 1, 2]) rmSync(join(dir, `a/${n}.png`))
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  const { out } = await stage.here('deletions', 'list')
  for (const dir of dirs) expect(out).toMatch(new RegExp(`^${dir}/a \\(3 images\\): `, 'm'))
  expect(out).not.toMatch(/^a\//m)
  for (const action of ['approve', 'discard'])
    for (const path of ['a/0.png', 'a'])
      expect(await stage.here('deletions', action, path)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining(dirs.join(', ')),
      })
  const approved = await stage.json('deletions', 'approve', join(dirs[0]!, 'a/0.png'))
  expect(approved.deletions).toMatchObject([{ mirror: dirs[0], path: 'a/0.png' }])
  expect((await stage.json('deletions', 'discard', join(dirs[1]!, 'a'))).deletions).toHaveLength(3)
  // Without a path all that waits is meant, in every mirror.
  expect(await stage.here('deletions', 'approve')).toMatchObject({ code: 0 })
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.paths()).toEqual(['one/a/3.png', ...[0, 1, 2, 3].map(n => `two/a/${n}.png`)])
})

it('a path at or below which nothing waits is refused, such as a mistyped one', async () => {
  const stage = await withHeld()
  for (const action of ['approve', 'discard', 'list'])
    expect(await stage.here('deletions', action, 'a/typo.png')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('a/typo.png'),
    })
  expect(await stage.here('deletions', 'list', 'a/3.png')).toMatchObject({ code: 0 })
  // What is approved already is no mistake.
  await stage.here('deletions', 'approve', 'a/0.png')
  expect(await stage.here('deletions', 'approve', 'a/0.png')).toMatchObject({ code: 0 })
})

it('a picture that goes missing and one that moved are told in the log, and when an image goes is told to the second', async () => {
  const stage = await setStage({
    pictures: picturesOf(0, 1),
    config: { deletions: { grace: '1s' } },
  })
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  expect(daemon.events()[0]).toMatchObject({ event: 'started', config: stage.config, page: 'off' })
  mkdirSync(join(stage.pictures, 'b'))
  renameSync(join(stage.pictures, 'a/0.png'), join(stage.pictures, 'b/0.png'))
  expect(await daemon.told('picture_gone')).toMatchObject({ path: 'a/0.png' })
  expect(await daemon.told('image_deleted')).toMatchObject({ path: 'a/0.png', moved_to: 'b/0.png' })
  stage.configure({ deletions: { grace: '1h' } })
  daemon.kill('SIGHUP')
  await daemon.told('config_taken')
  rmSync(join(stage.pictures, 'a/1.png'))
  await daemon.told('picture_gone', 2)
  const [{ since, goes_at }] = (await stage.json('deletions', 'list')).deletions
  expect(Math.abs(Date.parse(goes_at) - Date.parse(since) - 3_600_000)).toBeLessThan(100)
  await stage.here('pause')
  const { next } = (await stage.json('deletions', 'list')).deletions[0]
  expect(next.map(({ code }: { code: string }) => code)).toEqual(['grace_runs', 'all_paused'])
  await stage.here('resume')
  expect((await stage.here('sync', '--dry-run')).out).toMatch(
    /^wait a\/1\.png \(.* grace .*, until .* at the earliest\)/m,
  )
  renameSync(join(stage.pictures, 'b/0.png'), join(stage.pictures, 'b/2.png'))
  await daemon.told('picture_uploaded', 2)
  await daemon.told('picture_gone', 3)
  expect(await stage.here('url', 'b/0.png')).toMatchObject({
    code: 3,
    err: expect.stringContaining('the same picture lies at b/2.png'),
  })
  expect(await stage.json('why', 'b/0.png')).toMatchObject({ state: 'gone', cause: 'MOVED' })
  // An address or an id stands for its picture: `url` says where that lies now, `why` what becomes of the image.
  const [{ cdn_url, image_id }] = (await stage.json('why', 'b/0.png')).deletions
  const now = await stage.here('url', 'b/2.png')
  expect(await stage.here('url', cdn_url)).toEqual(now)
  expect(now.out).not.toContain(cdn_url)
  for (const named of [cdn_url, image_id])
    expect(await stage.json('why', named)).toMatchObject({ state: 'gone', cause: 'MOVED' })
  expect(await stage.json('why', now.out.trimEnd())).toMatchObject({ state: 'synced' })
  expect((await stage.here('deletions', 'list', 'b/0.png')).out).toMatch(
    /^b\/0\.png \(the same picture lies at b\/2\.png, .*\n.*\n {2}next {4}the image is deleted.*, at 20/,
  )
  expect((await stage.here('deletions', 'list')).out).toMatch(/^b \(1 old image of what moved\): /m)
  expect(await stage.here('url', 'a/1.png')).toMatchObject({
    code: 3,
    err: expect.stringContaining('a/1.png is not on the host: gone from the disk'),
  })
  expect(await daemon.stop()).toBe(0)
  stage.write('a/1.png', png(3, 2).bytes)
})

it('lists the images of a renamed folder together, though each waits for a picture of its own', async () => {
  const config = { deletions: { hold_min: 100 } }
  const stage = await setStage({ pictures: picturesOf(0, 1, 2), host: { dailyQuota: 3 }, config })
  renameSync(join(stage.pictures, 'a'), join(stage.pictures, 'b'))
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  const { out } = await stage.here('deletions', 'list', '--all')
  expect(out).toMatch(/^(a\/[012]\.png .*\n){3}3 images:\n {2}next {4}each stays .* its new place/m)
  expect(out.match(/^\d images?:$/gm)).toHaveLength(1)
  const { deletions } = await stage.json('deletions', 'list', 'a/0.png')
  expect(deletions[0].next[0].what).toContain('b/0.png')
})

it('held deletions that are approved go at once where a daemon runs, and approve says so', async () => {
  const stage = await withHeld()
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  const { out } = await stage.here('deletions', 'approve', 'a/1.png')
  expect(out).toContain('to be deleted by the running albumd')
  expect(out).not.toContain('next sync')
  expect(await daemon.told('image_deleted')).toMatchObject({ path: 'a/1.png' })
  expect(await daemon.stop()).toBe(0)
})

it('held deletions that are discarded leave the images for good, and a picture that comes back finds its own', async () => {
  const stage = await withHeld()
  await stage.here('deletions', 'discard', 'a')
  const before = await stage.listing()
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.listing()).toEqual(before)
  stage.write('a/0.png', png(2, 2).bytes)
  expect(await stage.json('sync', '--dry-run')).toMatchObject({ plan: [] })
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect(await stage.listing()).toEqual(before)
  expect(await stage.json('why', 'a/0.png')).toMatchObject({ state: 'synced', next: [{ code: 'kept_once' }] })
  stage.write('a/0.png', png(9, 9).bytes)
  expect((await stage.here('sync', '--dry-run')).out).toContain('upload a/0.png (changed')
  expect(await stage.pass()).toMatchObject({ exit_code: 0, deleted: 0 })
})

it('a deletion that the host refused is tried again whenever a person asks, and its grace stays', async () => {
  const stage = await setStage()
  let refusals = 0
  const refused = new Set<string>()
  const base_url = await startEditProxy(stage.baseUrl, ({ method }) => {
    if (method !== 'DELETE' || refused.size === 0) return undefined
    refusals++
    return { status: 500, code: 'DELETE_FAILED' }
  })
  const configure = (grace: string) =>
    stage.configure({ host: { base_url, api_key_file: 'api-key' }, deletions: { grace } })
  configure('0s')
  for (const n of [0, 1, 2]) stage.write(`a/${n}.png`, png(2 + n, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  rmSync(join(stage.pictures, 'a/0.png'))
  refused.add('all')
  expect(await stage.here('sync')).toMatchObject({ code: 3, out: expect.stringContaining('1 to delete') })
  const first = refusals
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  expect(refusals).toBeGreaterThan(first)
  refused.clear()
  // What the host did not refuse is not what a person has tried again.
  rmSync(join(stage.pictures, 'a/2.png'))
  const retried = await stage.here('retry', 'a')
  expect(retried).toMatchObject({ code: 3, err: '', out: expect.stringContaining('left: 1 to delete') })
  expect(Object.keys(await stage.delivered()).sort()).toEqual(['Photos/a/1.png', 'Photos/a/2.png'])
  stage.write('a/2.png', png(4, 2).bytes)

  // What the daemon has in its grace waits for that.
  configure('10m')
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  rmSync(join(stage.pictures, 'a/1.png'))
  await expect.poll(async () => (await stage.status()).mirrors[0].pending_deletions).toBe(1)
  await daemon.stop()
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  expect(Object.keys(await stage.delivered()).sort()).toEqual(['Photos/a/1.png', 'Photos/a/2.png'])
})

it('retry and a repair delete no image of a picture that is gone, and say what does: exit 3', async () => {
  const stage = await setStage({ pictures: picturesOf(0, 1), config: { deletions: { grace: '10m' } } })
  stage.write('b/bad.png', 'no picture')
  expect(await stage.pass()).toMatchObject({ exit_code: 3, left: { failed: 1 } })
  const both = ['Photos/a/0.png', 'Photos/a/1.png']
  const delivered = async () => Object.keys(await stage.delivered()).sort()
  rmSync(join(stage.pictures, 'a/0.png'))
  // What a person names is all that is looked at.
  const named = await stage.here('retry', join(stage.pictures, 'b'), '--json')
  expect(named.code).toBe(3)
  expect(JSON.parse(named.out)).toMatchObject({ left: { failed: 1, pending_deletions: 0 } })
  expect((await stage.status()).mirrors).toMatchObject([{ pending_deletions: 0, failed: 1 }])
  expect(await delivered()).toEqual(both)

  rmSync(join(stage.pictures, 'b/bad.png'))
  for (const command of [['retry'], ['audit', '--repair']])
    expect(await stage.here(...command)).toMatchObject({
      code: 3,
      err: '',
      out: expect.stringMatching(/left: 1 to delete \(left to "albumd sync" or "albumd run";/),
    })
  expect((await stage.json('deletions', 'list')).deletions).toMatchObject([
    { path: 'a/0.png', state: 'grace', next: [{ code: 'goes_next' }, { code: 'goes_by_sync' }] },
  ])
  expect(await delivered()).toEqual(both)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, deleted: 1 })
  expect(await delivered()).toEqual(['Photos/a/1.png'])
})

it('what a sync found gone and could not delete gets the grace of the daemon', async () => {
  const stage = await setStage({ pictures: picturesOf(0, 1), config: { deletions: { grace: '10m' } } })
  await stage.pass()
  rmSync(join(stage.pictures, 'a/0.png'))
  const key = join(stage.home, 'api-key')
  writeFileSync(key, 'wrong-key-abcdef')
  expect(await stage.pass()).toMatchObject({ exit_code: 5 })
  // The next sync gives no grace either, and nothing is deleted before the host takes the key.
  const { out } = await stage.here('deletions', 'list')
  expect(out).toContain('the host refuses the key: ')
  expect((await stage.json('deletions', 'list')).deletions).toMatchObject([
    { goes_at: null, next: [{ code: 'goes_next' }, { code: 'key_refused' }, { code: 'goes_by_sync' }] },
  ])
  writeFileSync(key, stage.key)
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  // The key counts as refused until the end of the pass.
  const leftMs = async () => {
    const { deletions } = await stage.json('deletions', 'list')
    const [{ goes_at }] = deletions as [{ goes_at: string }]
    return Date.parse(goes_at) - Date.now()
  }
  await expect.poll(leftMs).toBeGreaterThan(9 * 60_000)
  expect(await stage.listing()).toHaveLength(2)
})

it('deletions in their grace are listed with when they go, and each can be discarded, or approved to go at once', async () => {
  const stage = await setStage({ config: { deletions: { grace: '10m' } } })
  for (const n of [0, 1, 2, 3]) stage.write(`a/${n}.png`, png(2 + n, 2).bytes)
  const daemon = await daemonHere(stage)
  await daemon.told('picture_uploaded', 4)
  const before = await stage.listing()
  for (const n of [0, 1]) rmSync(join(stage.pictures, `a/${n}.png`))
  const listed = async () => (await stage.json('deletions', 'list')).deletions
  await expect.poll(listed).toHaveLength(2)
  const [first, second] = await listed()
  expect([first.path, second.path]).toEqual(['a/0.png', 'a/1.png'])
  for (const { state, since, goes_at } of [first, second]) {
    expect(state).toBe('grace')
    expect(Date.parse(goes_at) - Date.parse(since)).toBeGreaterThan(60_000)
  }
  const { out: discarded } = await stage.here('deletions', 'discard', 'a/0.png')
  expect(discarded).toContain('1 image: it stays on the host for good')
  expect(await listed()).toMatchObject([{ path: 'a/1.png' }])
  expect(await stage.listing()).toEqual(before)
  // Without a path, all that waits is meant.
  const approved = await stage.here('deletions', 'approve')
  expect(approved).toMatchObject({
    code: 0,
    out: expect.stringContaining('it is approved, and is deleted now'),
  })
  expect(await daemon.told('image_deleted')).toMatchObject({ path: 'a/1.png' })
  expect(await stage.paths()).toEqual(['Photos/a/0.png', 'Photos/a/2.png', 'Photos/a/3.png'])
  expect((await stage.here('deletions', 'approve')).out).toBe('nothing waits\n')
  expect(await daemon.stop()).toBe(0)
})

it('says of a deleted picture in a mirror that keeps images, that its image stays', async () => {
  const stage = await setStage({ pictures: picturesOf(0, 1), mirror: { deletions: 'keep' } })
  rmSync(join(stage.pictures, 'a/0.png'))
  const approve = () => stage.here('deletions', 'approve', 'a/0.png')
  const kept = { code: 2, err: expect.stringContaining('Kept on the host for good already') }
  expect(await approve()).toMatchObject(kept)
  await stage.pass()
  expect(await approve()).toMatchObject(kept)
})

it('a picture that is gone, and that no scan has missed yet, keeps its image when its deletion is discarded', async () => {
  const stage = await setStage({ pictures: picturesOf(0, 1) })
  const before = await stage.listing()
  const discard = () => stage.here('deletions', 'discard', 'a')
  expect(await discard()).toMatchObject({ code: 2, err: expect.stringContaining('No deletion at or below') })
  const lost = join(stage.pictures, 'a/0.png')
  rmSync(lost)
  // Without a daemon the next sync would delete the image, so `why` says how to get out of that, and both ways work.
  const { next } = await stage.json('why', 'a/0.png')
  const commands: string[] = next.map(({ command }: { command: string }) => command)
  expect(commands[0]).toBe('albumd sync')
  expect(commands[2]).toBe(`albumd deletions discard ${lost}`)
  expect(await stage.here(...commands[1]!.split(' ').slice(1))).toMatchObject({ code: 0 })
  expect(existsSync(lost)).toBe(true)
  rmSync(lost)
  expect((await discard()).out).toContain('a/0.png (gone from the disk')
  const again = { code: 2, err: expect.stringContaining('Kept on the host for good already') }
  expect(await discard()).toMatchObject(again)
  expect(await stage.here('sync')).toMatchObject({ code: 0 })
  expect(await discard()).toMatchObject(again)
  expect(await stage.here('deletions', 'approve', 'a')).toMatchObject(again)
  expect((await stage.status()).mirrors[0]).toMatchObject({ kept: 1, files: 1 })
  expect((await stage.json('ls')).pictures).toContainEqual(expect.objectContaining({ state: 'kept' }))
  expect(await stage.listing()).toEqual(before)
  // The other picture is mirrored as before.
  rmSync(join(stage.pictures, 'a/1.png'))
  expect(await stage.here('sync')).toMatchObject({ code: 0 })
  expect(await stage.paths()).toEqual(['Photos/a/0.png'])
  // A disk that is away is no deletion.
  renameSync(stage.pictures, `${stage.pictures}-away`)
  expect(await discard()).toMatchObject({ code: 2 })
})

it('a held deletion whose picture is there again is listed as such, before a scan has found it', async () => {
  const stage = await withHeld()
  stage.write('a/0.png', png(2, 2).bytes)
  const { deletions } = await stage.json('deletions', 'list')
  expect(deletions).toMatchObject([
    { path: 'a/0.png', next: [{ code: 'there_again' }, { code: 'looked_at_again' }, { code: 'run_sync' }] },
    { path: 'a/1.png', next: [{ code: 'image_held' }] },
    { path: 'a/2.png', next: [{ code: 'image_held' }] },
  ])
})
