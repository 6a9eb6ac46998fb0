import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { configExample } from '../../../src/config/example.ts'
import type { Config } from '../../../src/config/schema.ts'
import { healthOf } from '../../../src/daemon/notify/health.ts'
import { readStatus, statusOf } from '../../../src/daemon/report/status.ts'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced, type Synced } from '../../../src/synced/synced.ts'
import type { GuardCode } from '../../../src/synced/tables/mirrors.ts'
import { because, type Reason, said } from '../../../src/words/reasons.ts'
import { parse } from '../../config/config-text.ts'
import { red } from '../../sync/workshop.ts'
import { tempFolder } from '../../temp-folder.ts'
import { asked } from './asked.ts'

interface Kept {
  home: string
  synced: Synced
  configOf(...folders: string[]): Config
}

function stateOnDisk(): Kept {
  const home = tempFolder()
  const state_dir = join(home, 'state')
  mkdirSync(state_dir)
  const synced = openSynced(openDatabase(stateFiles(state_dir).database))
  onTestFinished(() => synced.close())
  const configOf = (...folders: string[]) => ({
    ...parse(configExample()),
    state_dir,
    mirrors: folders.map(name => ({
      folder: join(home, name),
      album: name,
      deletions: 'propagate' as const,
      ignore: [],
    })),
  })
  return { home, synced, configOf }
}

async function fail(synced: Synced, folder: string, name: string, code = 'X'): Promise<void> {
  await synced.commit(tx => {
    const mirror = synced.mirrors.of(folder) ?? tx.mirrors.add(folder, name)
    const at = tx.folders.add(mirror.id, '')
    tx.failures.put({
      folder: at.id,
      name,
      source: 'upload',
      code,
      message: said('x'),
      refusals: 0,
      next_attempt_at: null,
    })
  })
}

it('calls a mirror guarded whose folder is missing, also where no daemon runs', async () => {
  const { home, configOf } = stateOnDisk()
  mkdirSync(join(home, 'there'))
  const { mirrors } = readStatus(configOf('there', 'missing'), Date.now())
  expect(mirrors).toMatchObject([
    { state: 'idle', reason: null },
    { state: 'guarded', reason: expect.stringContaining(`${join(home, 'missing')} is not there`) },
  ])
})

it("shows the failures of the config's mirrors, each with its mirror", async () => {
  const { home, synced, configOf } = stateOnDisk()
  await fail(synced, join(home, 'other'), 'not-ours.png')
  await fail(synced, join(home, 'one'), 'a.png')
  await fail(synced, join(home, 'two'), 'b.png')
  expect(statusOf(configOf('two', 'one'), synced, false, Date.now()).failures).toMatchObject([
    { mirror: join(home, 'two'), path: 'b.png' },
    { mirror: join(home, 'one'), path: 'a.png' },
  ])
  expect(statusOf(configOf('new'), synced, false, Date.now()).failures).toEqual([])
})

it('shows doubts before failures, of whatever mirror', async () => {
  const { home, synced, configOf } = stateOnDisk()
  await fail(synced, join(home, 'one'), 'a.png')
  await fail(synced, join(home, 'two'), 'c.png', 'UNCERTAIN')
  await fail(synced, join(home, 'two'), '', 'FOLDER_EMPTIED')
  await fail(synced, join(home, 'two'), 'b.png')
  const { failures } = statusOf(configOf('one', 'two'), synced, false, Date.now())
  expect(failures.map(({ path }) => path)).toEqual(['', 'c.png', 'a.png', 'b.png'])
})

it('shows failures that wait for a person before those that are tried again, and at most a limit of them', async () => {
  const { home, synced, configOf } = stateOnDisk()
  const config = configOf('one', 'two')
  await fail(synced, join(home, 'two'), 'b.png')
  await synced.commit(tx => {
    const { id: mirror } = tx.mirrors.add(join(home, 'one'), 'one')
    const { id: folder } = tx.folders.add(mirror, '')
    for (let n = 0; n < 1200; n++)
      tx.failures.put({
        folder,
        name: `${n}.png`,
        source: 'upload',
        code: 'X',
        message: said('x'),
        refusals: 0,
        next_attempt_at: 1,
      })
  })
  const status = statusOf(config, synced, true, Date.now())
  expect(status.failures).toHaveLength(1000)
  expect(status.failures[0]).toMatchObject({ mirror: join(home, 'two'), path: 'b.png' })
  expect(status.mirrors).toMatchObject([{ failed: 1200 }, { failed: 1 }])
  expect(healthOf(status, config, Date.now(), 0).alerts).toMatchObject([{ code: 'FAILED' }])
})

it('calls guarded, and tells nobody of, what ends by itself: an ended scan, an ignore file that an editor saves', () => {
  const { home, synced, configOf } = stateOnDisk()
  const config = configOf('one')
  const known = (code: GuardCode, reason: Reason) => {
    synced.commitNow(tx => {
      const { id } = tx.mirrors.of(join(home, 'one')) ?? tx.mirrors.add(join(home, 'one'), 'one')
      const { id: folder } = tx.folders.add(id, '')
      tx.mirrors.guard(id, { code, reason })
      tx.failures.put({
        folder,
        name: '',
        source: 'look',
        code,
        message: reason,
        refusals: 0,
        next_attempt_at: null,
      })
    })
    const status = statusOf(config, synced, true, Date.now())
    expect(status.mirrors).toMatchObject([
      { state: 'guarded', doubt: code === 'FOLDER_UNKNOWN' ? '/p/a' : null },
    ])
    // What the folder of the mirror is missing for is told instead of the folder in doubt.
    expect(readStatus(config, Date.now()).mirrors).toMatchObject([{ state: 'guarded', doubt: null }])
    return healthOf(status, config, Date.now(), 0).alerts.map(alert => alert.code)
  }
  const inDoubt = (why: Reason) => because('folder_in_doubt', { path: '/p/a', others: 0, why })
  expect(known('SCAN_ENDED', because('scan_ended', { folder: '/p' }))).toEqual([])
  expect(known('FOLDER_UNKNOWN', inDoubt(because('ignore_file_vanished')))).toEqual([])
  expect(known('FOLDER_UNKNOWN', inDoubt(said('x')))).toEqual(['GUARDED', 'FAILED'])
})

it('a blocked mirror is for a person only when what blocks it does not pass by itself', async () => {
  const { config, synced, write, pass } = await asked()
  write('half.png', red.subarray(0, 40))
  await pass()
  const blockedBy = async (code: string) => {
    const block = { endpoint: 'upload', code, message: said('no'), since: 1, said_at: 1 }
    await synced.commit(tx => tx.account.block(block))
    return statusOf(config, synced, false, Date.now()).mirrors
  }
  expect(await blockedBy('HOST_UNREACHABLE')).toMatchObject([{ state: 'blocked', needs_person: false }])
  expect(await blockedBy('INVALID_API_KEY')).toMatchObject([{ state: 'blocked', needs_person: true }])
})

it('says that an audit is under way only while a daemon runs, and until the host ends it', async () => {
  const { synced, configOf } = stateOnDisk()
  const auditNow = (running: boolean) => statusOf(configOf('one'), synced, running, Date.now()).audit
  synced.commitNow(tx => tx.meta.set('audit_began', 1000))
  expect(auditNow(true)).toMatchObject({ under_way: true, left_off: false })
  expect(auditNow(false)).toMatchObject({ under_way: false, left_off: false })
  synced.commitNow(tx => tx.meta.set('audit_stopped', true))
  expect(auditNow(true).under_way).toBe(false)

  await synced.commit(tx => {
    tx.albums.put(null, 'one', 'x', true)
    for (const album of synced.audit.albums()) tx.audit.done(album, 1000)
  })
  expect(auditNow(false)).toMatchObject({ under_way: false, left_off: true })
})

it('tells of no album of this machine once another machine has it', async () => {
  const { synced, configOf } = stateOnDisk()
  const config = configOf('Pictures')
  const machines = ['studio', 'laptop'].map(name => ({
    name,
    is_this: name === 'studio',
    state: 'works' as const,
    seen: 0,
    albums: ['Pictures'],
    used_today: 3,
  }))
  await synced.commit(tx => tx.meta.set('account_machines', { away: null, machines }))
  const shared = { ...config, account: { ...config.account, shared: 'redis://localhost' } }
  const albums = () => readStatus(shared, Date.now()).machines.map(({ name, albums }) => [name, ...albums])
  expect(albums()).toEqual([
    ['studio', 'Pictures'],
    ['laptop', 'Pictures'],
  ])
  await synced.commit(tx => tx.meta.set('album_taken', because('state_copied')))
  expect(albums()).toEqual([['studio'], ['laptop', 'Pictures']])
})

it('counts the images of a mirror that was taken out of the config', async () => {
  const { config, synced, pictures, write, pass } = await asked()
  write('a.png', red)
  await pass()
  const removed = (mirrors: Config['mirrors']) =>
    statusOf({ ...config, mirrors }, synced, false, Date.now()).removed
  expect(removed([])).toEqual([{ folder: pictures, images: 1 }])
  expect(removed(config.mirrors)).toEqual([])
})
