import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HostOptions } from '../../../src/host/embedded-host.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { said } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { type FaultStage, setFaultStage } from '../stage/fault-stage.ts'
import { daemonHere, type Logged } from '../stage/process.ts'
import { oneDay } from '../stage/stage.ts'

const asked = ({ proxy }: FaultStage) => proxy.log.filter(({ kind }) => kind === 'upload').length

function plant(stage: FaultStage, from: number, to: number) {
  for (let shade = from; shade < to; shade++) stage.write(`${shade}.png`, png(2, 2, shade).bytes)
}

async function stageOf(host: Partial<HostOptions>): Promise<FaultStage> {
  await oneDay()
  return setFaultStage({ host })
}

/** The host's days, which are UTC's, go on when a test says so. */
function days() {
  const clock = {
    offset: 0,
    wall: () => Date.now() + clock.offset,
    monotonic: () => performance.now(),
  }
  return clock
}

describe('a quota that the host says is used up', () => {
  it('keeps no picture from its image that the host holds, which adopt finds', async () => {
    const stage = await stageOf({ dailyQuota: 4 })
    plant(stage, 0, 4)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    rmSync(join(stage.home, 'state'), { recursive: true })
    plant(stage, 100, 120)
    expect(await stage.pass()).toMatchObject({ exit_code: 3, linked: 0 })
    expect(await stage.here('adopt')).toMatchObject({
      code: 3,
      out: expect.stringContaining('4 pictures found on the host by the bytes'),
    })
  })

  it('leaves no doubt about a picture that moved, once its bytes were read, and its image waits for its upload', async () => {
    const stage = await stageOf({ dailyQuota: 4 })
    plant(stage, 0, 4)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    stage.write('b/new.png', png(3, 3).bytes)
    renameSync(join(stage.pictures, '0.png'), join(stage.pictures, 'b/0.png'))
    // A file that was renamed just now may change without a new time, so it is read again.
    const cause = async () => {
      await stage.pass()
      return (await stage.json('why', '0.png')).cause
    }
    await expect.poll(cause).toBe('MOVED')
    const { plan, notes } = await stage.json('sync', '--dry-run')
    expect(plan).toMatchObject([{ operation: 'wait', path: '0.png', code: 'moved_unsent' }])
    expect(notes).toContainEqual(expect.stringMatching(/^still to be uploaded, 2 \(/))
    const [waits] = (await stage.json('deletions', 'list')).deletions
    expect(waits.next).toMatchObject([{ code: 'image_stays' }, { code: 'run_sync' }])
  })

  it("costs a day's requests and few more, is remembered over restarts, and goes on by a person's word", async () => {
    const clock = days()
    const stage = await stageOf({ dailyQuota: 20, clock })
    plant(stage, 0, 40)
    const used = await stage.here('sync')
    expect(used).toMatchObject({ code: 3 })
    expect(used.err).toMatch(
      /\(DAILY_LIMIT_REACHED\); uploads go on after \d{4}-\S+ \S+ \S+, in "albumd run" by themselves \(at once with "albumd retry" without a path, /,
    )
    expect(asked(stage)).toBeGreaterThan(20)
    expect(asked(stage)).toBeLessThanOrEqual(28)
    const first = asked(stage)
    expect(await stage.here('sync')).toMatchObject({ code: 3 })
    expect(asked(stage)).toBe(first)

    const { quota, backlog } = await stage.json('status')
    // The embedded host says when its day ends.
    const midnight = Math.ceil(Date.now() / 86_400_000) * 86_400_000
    expect(quota).toMatchObject({ used: 20, exhausted: true })
    expect(Math.abs(Date.parse(quota.resumes_at) - midnight)).toBeLessThan(60_000)
    expect(backlog).toMatchObject({ pictures: 20 })
    const { out } = await stage.here('status', '--config', stage.config)
    expect(out).toMatch(/^quota {3}20 of 5,000 today by albumd's count \(professional\), used up until /m)
    expect(out).toContain('host.daily_quota')
    expect(out).toMatch(/^backlog 20 pictures: after \d{4}-/m)
    const doctor = await stage.here('doctor', '--config', stage.config)
    expect(doctor.out).toMatch(/warn +quota .*20 of 5,000.*\n.*host\.daily_quota/)
    // The doctor asks for a credential that no host gives.
    expect(asked(stage)).toBe(first + 1)
    const again = await stage.here('retry', '--config', stage.config)
    expect(again.err).toMatch(
      /\(DAILY_LIMIT_REACHED\); uploads go on after [^"]* in "albumd run" by themselves\n$/,
    )
    expect(again.out).toContain('; quota left 0 by ')
    const refused = asked(stage)
    expect(refused).toBe(first + 2)

    clock.offset = 86_400_000
    expect(await stage.here('retry', '--config', stage.config)).toMatchObject({ code: 0 })
    expect(asked(stage)).toBe(refused + 20)
    expect(await stage.status()).toMatchObject({ quota: { used: 40, exhausted: false } })
  })
})

it('what a plan lacks stays in the status while the host is away, and so does that it is away', async () => {
  const stage = await stageOf({ dailyQuota: 1, plansFrom: 'flagship' })
  plant(stage, 0, 3)
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  const blocks = async () => (await stage.status()).blocks
  const lacks = (endpoint: string) => ({ endpoint, code: 'PLAN_NOT_SUPPORTED' })
  expect(await blocks()).toMatchObject([lacks('create_album'), lacks('list')])

  stage.proxy.fail('list', 'each', 'reset')
  // The quota is used up: but for the greeting nothing is asked.
  expect(await stage.pass()).toMatchObject({ exit_code: 3 })
  const away = await blocks()
  expect(away).toMatchObject([lacks('create_album'), { endpoint: 'list', code: 'HOST_UNREACHABLE' }])
  expect((await stage.status()).mirrors).toMatchObject([{ state: 'blocked', pending_uploads: 2 }])
})

it('what a plan lacked is out of the status once the host lists again, also for a pass that asks nothing', async () => {
  const stage = await setFaultStage()
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  const db = openDatabase(join(stage.home, 'state/albumd.db'))
  const at = Date.now()
  openSynced(db).commitNow(tx =>
    tx.account.block({
      endpoint: 'list',
      code: 'PLAN_NOT_SUPPORTED',
      message: said('no'),
      since: at,
      said_at: at,
    }),
  )
  db.close()
  expect((await stage.status()).blocks).toHaveLength(1)
  expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  expect((await stage.status()).blocks).toEqual([])
})

describe('a storage that is full', () => {
  it('is remembered by a daemon that is started over, and a person who asks costs one request', async () => {
    const stage = await stageOf({ storageLimit: png(2, 2).bytes.length * 3 })
    plant(stage, 0, 12)
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    const first = asked(stage)
    expect(first).toBeLessThanOrEqual(3 + 8)
    for (let start = 0; start < 2; start++) {
      const stopped = await daemonUntil(stage, 'uploads_stopped')
      expect(stopped).toMatchObject({ code: 'STORAGE_LIMIT_REACHED' })
    }
    expect(asked(stage)).toBe(first)
    expect(await stage.status()).toMatchObject({
      blocks: [{ code: 'STORAGE_LIMIT_REACHED', endpoint: 'upload' }],
    })
    expect(await stage.pass()).toMatchObject({ exit_code: 3 })
    expect(asked(stage)).toBe(first + 1)
  })

  it('is asked about at once by a daemon whose config names another plan', async () => {
    const stage = await stageOf({ storageLimit: 1 })
    plant(stage, 0, 2)
    await stage.pass()
    const first = asked(stage)
    stage.configure({
      host: { base_url: stage.proxy.baseUrl, api_key_file: 'api-key', plan: 'flagship' },
    })
    await daemonUntil(stage, 'uploads_stopped')
    expect(asked(stage)).toBeGreaterThan(first)
  })
})

/** Runs the daemon until it tells of this, and ends it. Answers what it told. */
async function daemonUntil(stage: FaultStage, event: string): Promise<Logged> {
  const daemon = await daemonHere(stage)
  const told = await daemon.told(event)
  expect(await daemon.stop()).toBe(0)
  return told
}
