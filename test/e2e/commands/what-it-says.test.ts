import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { localTime } from '../../../src/words/text.ts'
import { treeOf } from '../../daemon/recorded-pictures.ts'
import { png } from '../../pictures.ts'
import { loseState } from '../stage/fault-stage.ts'
import { daemonHere } from '../stage/process.ts'
import { setStage } from '../stage/stage.ts'

const PICTURES = Object.fromEntries([0, 1, 2, 3].map(n => [`a/${n}.png`, png(2 + n, 2).bytes]))
const mirrored = (config: object = {}) => setStage({ pictures: PICTURES, config })

it('names the old address that a rename ends, in the dry run and in the log', async () => {
  const stage = await mirrored()
  const { cdn_url } = await stage.json('url', 'a/0.png')
  renameSync(join(stage.pictures, 'a'), join(stage.pictures, 'b'))
  const { out } = await stage.here('sync', '--dry-run')
  expect(out).toContain(`delete a/0.png (the same picture lies at b/0.png)  ${cdn_url}\n`)
  const { plan } = await stage.json('sync', '--dry-run')
  expect(plan).toContainEqual(expect.objectContaining({ operation: 'delete', path: 'a/0.png', cdn_url }))
  // The host takes no more today, so they wait.
  await stage.restartHost({ dailyQuota: 4 })
  const daemon = await daemonHere(stage)
  expect(await daemon.told('uploads_started')).toMatchObject({ pictures: 4, quota_left: 4996 })
  expect(daemon.events()).toContainEqual(
    expect.objectContaining({ event: 'picture_gone', path: 'a/0.png', cdn_url }),
  )
  await daemon.told('uploads_stopped')
  expect((await stage.json('sync', '--dry-run')).plan).toContainEqual(
    expect.objectContaining({ operation: 'wait', path: 'a/0.png', cdn_url }),
  )
  expect(await daemon.stop()).toBe(0)
})

it('restore brings a folder back under its new name that was renamed while the quota was used up', async () => {
  const stage = await mirrored({ deletions: { hold_min: 100 } })
  stage.write('gone.png', png(20, 2).bytes)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  renameSync(join(stage.pictures, 'a'), join(stage.pictures, 'b'))
  await stage.restartHost({ dailyQuota: 5 })
  const renamed = Object.keys(PICTURES).map(path => path.replace('a/', 'b/'))
  // A hash is recorded once the file's last change is old enough.
  const areRead = async () => {
    expect(await stage.pass()).toMatchObject({ exit_code: 3, uploaded: 0 })
    const told = []
    for (const path of renamed) told.push((await stage.json('why', path)).sha256)
    return told.every(hash => hash !== null)
  }
  await expect.poll(areRead).toBe(true)
  for (const deleted of [[], ['--deleted']]) {
    const back = join(stage.home, `back${deleted.length}`)
    const { code, out, err } = await stage.here('restore', back, ...deleted, '--config', stage.config)
    expect({ out, code, err }).toEqual({ out, code: 0, err: '' })
    expect(out).toMatch(/^5 pictures to restore/)
    expect(out).toContain('elsewhere a/0.png: the same picture lies at b/0.png\n')
    expect(out).toContain('4 pictures elsewhere: ')
    expect(out).not.toContain('left out')
    expect(Object.keys(treeOf(back)).sort()).toEqual([...renamed, 'gone.png'])
  }
  // "--at" follows the same records.
  const then = join(stage.home, 'then')
  const at = new Date().toISOString()
  expect((await stage.here('restore', then, '--at', at, '--config', stage.config)).code).toBe(0)
  expect(treeOf(then)).toEqual(treeOf(join(stage.home, 'back0')))
})

describe('sync --dry-run', () => {
  it('says what moved, holds what has gone beside it, and asks the host for nothing', async () => {
    const stage = await mirrored({ deletions: { hold_above: '25%', hold_min: 1 } })
    renameSync(join(stage.pictures, 'a/3.png'), join(stage.pictures, 'moved.png'))
    // With another time, only its bytes tell that it has moved.
    stage.write('b/2.png', PICTURES['a/2.png']!)
    for (const n of [0, 1, 2]) rmSync(join(stage.pictures, `a/${n}.png`))
    const { plan } = await stage.json('sync', '--dry-run')
    expect(plan).toMatchObject([
      { operation: 'use_album', path: 'Photos/b', code: 'first_needs_album' },
      { operation: 'upload', path: 'moved.png', code: 'moved_from' },
      { operation: 'upload', path: 'b/2.png', code: 'moved_from' },
      { operation: 'delete', path: 'a/2.png', code: 'picture_moved' },
      { operation: 'delete', path: 'a/3.png', code: 'picture_moved' },
      { operation: 'hold', path: 'a/0.png', code: 'image_held' },
      { operation: 'hold', path: 'a/1.png', code: 'image_held' },
    ])
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    const { deletions } = await stage.json('deletions', 'list')
    expect(deletions).toMatchObject([{ path: 'a/0.png' }, { path: 'a/1.png' }])
  })

  it('lets a picture wait, or fail, that the last pass has read and found incomplete, as the next one does', async () => {
    const stage = await mirrored()
    const whole = png(30, 30).bytes
    stage.write('half.png', whole.subarray(0, whole.length - 20))
    const planned = async () => (await stage.json('sync', '--dry-run')).plan
    const path = 'half.png'
    // Nobody has read it yet.
    expect(await planned()).toMatchObject([{ operation: 'upload', path }])
    const waits = { exit_code: 3, uploaded: 0, failed: 0 }
    expect(await stage.pass()).toMatchObject(waits)
    expect(await planned()).toMatchObject([{ operation: 'wait', path, code: 'incomplete' }])
    expect(await stage.pass()).toMatchObject(waits)
    stage.configure({ watch: { settle: '100ms', incomplete_after: '1s' } })
    await expect.poll(planned).toMatchObject([{ operation: 'fail', path, code: 'stays_incomplete' }])
    expect(await stage.pass()).toMatchObject({ ...waits, failed: 1 })
  })

  it('says how many pictures failed before and are not in the plan', async () => {
    const stage = await mirrored()
    stage.write('b/broken.png', 'no picture')
    expect(await stage.pass()).toMatchObject({ exit_code: 3, failed: 1 })
    const { plan, notes } = await stage.json('sync', '--dry-run')
    expect(plan).not.toContainEqual(expect.objectContaining({ path: 'b/broken.png' }))
    expect(notes).toContainEqual(
      expect.stringMatching(
        /^1 picture failed before, and is not in this plan; "albumd why \/\S+" says when it is/,
      ),
    )
  })

  it('names the mirrors where there are several, counts by kind, and refuses what sync would refuse', async () => {
    const stage = await mirrored()
    mkdirSync(join(stage.home, 'more'))
    writeFileSync(join(stage.home, 'more/new.png'), png(9, 9).bytes)
    rmSync(join(stage.pictures, 'a/0.png'))
    const mirrors = [
      ['pictures', 'Photos'],
      ['more', 'More'],
    ].map(([folder, album]) => ({ folder, album }))
    stage.configure({ mirrors })
    const { out } = await stage.here('sync', '--dry-run')
    expect(out).toContain(`upload ${join(stage.home, 'more/new.png')} (new`)
    expect(out).toContain(`delete ${join(stage.pictures, 'a/0.png')} (gone`)
    expect(out).toMatch(/\n\d+ operations \(use album 1; upload 1, \d+ B; (compare \d, \d+ B; )?delete 1\); /)
    const synced = (await stage.here('sync')).out
    expect(synced).toContain(`\nuploaded ${join(stage.home, 'more/new.png')} (`)
    rmSync(join(stage.home, 'api-key'))
    expect(await stage.here('sync', '--dry-run')).toMatchObject({ code: 2 })
  })

  it('says of a guarded mirror that it is guarded, and counts no operation for it', async () => {
    const stage = await mirrored()
    rmSync(join(stage.pictures, 'a'), { recursive: true })
    const { out } = await stage.here('sync', '--dry-run')
    const [said, summary] = out.trimEnd().split('\n')
    expect(said).toMatch(/^guarded: .*albumd trust/)
    expect(said).toContain(stage.pictures)
    expect(summary).toMatch(/^0 operations, 1 mirror guarded; nothing was changed/)
  })

  it('says once of a state that is lost or older what becomes of what the host holds', async () => {
    const stage = await mirrored()
    const copy = join(stage.home, 'copy.db')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    await stage.here('backup', copy)
    stage.write('a/9.png', png(9, 2).bytes)
    expect(await stage.pass()).toMatchObject({ uploaded: 1 })
    loseState(stage)
    copyFileSync(copy, join(stage.home, 'state/albumd.db'))
    const older = 'already is linked, not uploaded\n'
    expect((await stage.here('sync', '--dry-run')).out).toContain(older)
    loseState(stage)
    const { out, err } = await stage.here('sync', '--dry-run')
    expect(out.match(/is linked, not uploaded/g)).toHaveLength(1)
    expect(err.trimEnd().split('\n')).toEqual([expect.stringContaining('State is gone')])
  })
})

it('with --quiet commands say nothing but what failed, what is left, and the data that was asked for', async () => {
  const stage = await setStage()
  stage.write('a/0.png', png(2, 2).bytes)
  const nothing = { code: 0, out: '', err: '' }
  expect(await stage.here('sync', '--quiet')).toEqual(nothing)
  expect(await stage.albumd('adopt', '--quiet')).toEqual(nothing)
  expect(await stage.here('audit', '--quiet')).toEqual(nothing)
  expect(await stage.here('restore', join(stage.home, 'back'), '--quiet')).toEqual(nothing)
  stage.write('a/1.png', png(3, 2).bytes)
  const put = await stage.here('put', join(stage.pictures, 'a/1.png'), '--quiet')
  expect(put).toEqual({ code: 0, out: expect.stringMatching(/^http\S+\n$/), err: '' })
  // A picture that was read soon after it was written is compared once more.
  await expect.poll(async () => (await stage.pass()).unchanged).toBe(0)
  stage.write('a/2.png', 'no picture')
  const left = /^albumd: failed a\/2\.png: .*\nalbumd: nothing done; left: 1 failed\. .*\n$/
  expect(await stage.here('sync', '--quiet')).toEqual({
    code: 3,
    out: '',
    err: expect.stringMatching(left),
  })
})

it('scans once, and says once what is in doubt, where nothing may be deleted for that', async () => {
  const stage = await mirrored()
  rmSync(join(stage.pictures, 'a/0.png'))
  mkdirSync(join(stage.pictures, 'b/.albumdignore'), { recursive: true })
  const { out } = await stage.here('sync')
  // Nobody is told to delete it by a sync, which would refuse again.
  const stopped = [{ path: 'a/0.png', next: [{ code: 'folder_in_doubt' }] }]
  expect((await stage.json('deletions', 'list')).deletions).toMatchObject(stopped)
  expect(out.match(/^guarded: /gm)).toHaveLength(1)
  expect(out.match(/ pictures in \d folders$/gm)).toHaveLength(1)
  rmSync(join(stage.pictures, 'b'), { recursive: true })
  expect(await stage.pass()).toMatchObject({ exit_code: 0, deleted: 1 })
})

it('counts a folder in doubt as no failed picture', async () => {
  const stage = await mirrored()
  mkdirSync(join(stage.pictures, 'a/.albumdignore'))
  stage.write('b/broken.png', 'no picture')
  const left = '1 failed, 1 folder in doubt, 1 mirror guarded'
  expect(await stage.here('sync')).toMatchObject({ code: 3, out: expect.stringContaining(`left: ${left}.`) })
  expect((await stage.here('status')).out).toContain(', 1 failed, 1 folder in doubt\n')
  expect((await stage.json('status')).mirrors).toMatchObject([{ failed: 2, folders_in_doubt: 1 }])
})

describe('a lost state', () => {
  it('is told by each command that meets it, and audit claims nothing', async () => {
    const stage = await mirrored()
    loseState(stage)
    for (const command of [['status'], ['deletions', 'list']])
      expect((await stage.here(...command)).err).toContain('State is gone')
    const first = await stage.here('audit')
    expect(first).toMatchObject({ code: 3, out: '' })
    expect(first.err).toContain('State is gone')
    expect(first.err).toContain('Nothing is recorded yet')
    expect(await stage.json('audit')).toMatchObject({ complete: false, albums: 0 })
  })

  it('is told by a restore to an earlier moment, which names what the host lists as the way', async () => {
    const stage = await mirrored()
    loseState(stage)
    const refused = async (folder: string) => {
      const { code, err } = await stage.here('restore', folder, '--at', '1h')
      expect([code, err]).toEqual([2, expect.stringContaining('restore FOLDER --from-host')])
      expect(err).not.toContain('is not there')
    }
    for (const folder of [stage.pictures, join(stage.home, 'back')]) await refused(folder)
    await stage.here('sync')
    for (const folder of [stage.pictures, join(stage.home, 'back')]) await refused(folder)
  })

  it('does not say to run adopt while it runs, of a state that is new', async () => {
    const stage = await mirrored()
    rmSync(join(stage.home, 'state'), { recursive: true })
    const { out } = await stage.here('adopt')
    expect(out).toMatch(/^The state is new, .* stop albumd and mount it$/m)
  })

  it('is linked anew, and --verify compares by the delivery base that the listing names', async () => {
    const stage = await mirrored()
    const before = await stage.listing()
    loseState(stage)
    const { out, code } = await stage.here('adopt', '--verify')
    // The listing names the delivery base, so no upload is needed to know the addresses.
    expect(out).toContain('\n4 linked images proved to be the same\n')
    expect(out).not.toContain('albumd sync')
    const none = { equal: 0, other: 0, unknown: 0, why: null }
    expect((await stage.json('adopt', '--verify')).verified).toEqual(none)
    expect(code).toBe(0)
    expect(await stage.listing()).toEqual(before)
    stage.write('new.png', png(7, 3).bytes)
    expect((await stage.here('adopt')).out).toContain('\n"albumd sync" uploads the pictures that are left\n')
  })

  it('makes sync tell how many were linked, and how they are compared', async () => {
    const stage = await mirrored()
    loseState(stage)
    const { out } = await stage.here('sync')
    expect(out.match(/adopt --verify/g)).toHaveLength(1)
    expect(out).toContain('4 pictures linked to images')
    expect((await stage.here('status')).out).toMatch(/ 4 of 4 pictures on the host\n +4 pictures linked /)
    const [{ path }] = await stage.json('ls').then(({ pictures }) => pictures)
    const linked = await stage.here('put', path)
    expect(linked).toMatchObject({ code: 0, out: (await stage.here('url', path)).out })
  })
})

it('restore says what the host holds and an older state does not know', async () => {
  const stage = await mirrored()
  const copy = join(stage.home, 'copy.db')
  await stage.here('backup', copy)
  stage.write('a/9.png', png(9, 2).bytes)
  expect(await stage.pass()).toMatchObject({ uploaded: 1 })
  const restore = async (folder: string) => (await stage.here('restore', join(stage.home, folder))).out
  expect(await restore('first')).toMatch(/^5 pictures restored .*\n$/m)
  loseState(stage)
  copyFileSync(copy, join(stage.home, 'state/albumd.db'))
  const fromHost = '"albumd restore FOLDER --from-host" fetches all that the host lists\n'
  const older = `the state is an older copy or made anew, and what it does not know is not here. ${fromHost}`
  expect(await restore('second')).toContain(older)
  await stage.here('pause')
  await stage.here('resume')
  expect(await restore('opened')).toContain(older)
  expect(await stage.here('audit')).toMatchObject({ code: 3 })
  expect(await restore('third')).toContain(
    `1 image on the host by the last audit is in no record. ${fromHost}`,
  )
  expect(await stage.here('sync')).toMatchObject({ code: 0 })
  await stage.here('audit')
  expect(await restore('fourth')).not.toContain('--from-host')
})

describe('a path with nothing there', () => {
  it('is not one where a picture failed', async () => {
    const stage = await mirrored()
    stage.write('b/broken.png', 'no picture')
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect(await stage.here('retry', 'b')).toMatchObject({ code: 3, err: '' })
    // Below the working folder, as a shell completes it.
    expect(await stage.here('retry', 'pictures/b')).toMatchObject({ code: 3, err: '' })
  })
})

describe('status', () => {
  it('shows nothing yet while another process makes the state', async () => {
    const stage = await setStage()
    mkdirSync(join(stage.home, 'state'))
    writeFileSync(join(stage.home, 'state/albumd.db'), '')
    expect(await stage.json('status')).toMatchObject({
      running: false,
      mirrors: [{ files: 0, state: 'idle' }],
    })
  })

  it('counts the pictures left out whose image is on the host', async () => {
    const stage = await mirrored()
    stage.write('.albumdignore', 'a/\n')
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    expect((await stage.here('status')).out).toMatch(/4 pictures left out, .*albumd sync --prune/)
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ left_out_with_image: 4 })
    await stage.here('sync', '--prune-ignored')
    expect((await stage.status()).mirrors[0]).toMatchObject({ left_out_with_image: 0 })
  })

  it('says of a block since when the host says so, also where a person had it asked again', async () => {
    const stage = await setStage({ host: { plan: 'free' } })
    stage.write('red.png', png(3, 2).bytes)
    await stage.pass()
    const { blocks } = await stage.json('status')
    const [block] = blocks
    const first = blocks.map(({ since }: { since: string }) => since).sort()[0]
    expect((await stage.here('status')).out).toContain(`since ${localTime(first)}`)
    expect(await stage.here('retry')).toMatchObject({ code: 5 })
    const [again] = (await stage.json('status')).blocks
    expect(again).toMatchObject({ endpoint: block.endpoint, since: block.since })
    expect(Date.parse(again.said_at)).toBeGreaterThan(Date.parse(block.said_at))
  })
})

it('deletions approve says what can not be undone before it lists and does it', async () => {
  const stage = await mirrored({ deletions: { hold_above: '25%', hold_min: 1 } })
  for (const n of [0, 1, 2]) rmSync(join(stage.pictures, `a/${n}.png`))
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  const lines = (await stage.here('deletions', 'approve')).out.trimEnd().split('\n')
  expect(lines[0]).toContain('this can not be undone')
  expect(lines[1]).toBe('a (3 images)')
  expect(lines.at(-1)).toContain('3 images: each is approved')
})
