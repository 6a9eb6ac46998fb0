import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readConfig } from '../../src/cli/read-config.ts'
import { CommandQueue } from '../../src/daemon/commands/queue.ts'
import { waitsAlert } from '../../src/daemon/notify/health.ts'
import { readAlerts } from '../../src/page/facts.ts'
import { Metrics } from '../../src/page/metrics.ts'
import { daemonHere } from '../e2e/stage/process.ts'
import { oneDay, setStage } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { ask, type PageStage, setPageStage } from './page-stage.ts'

/** Prometheus' text, read strictly: a line's name and labels → its value. */
function parse(text: string): Map<string, number> {
  const values = new Map<string, number>()
  const types = new Set<string>()
  expect(text.endsWith('\n')).toBe(true)
  for (const line of text.split('\n').filter(line => line !== '')) {
    const type = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line)
    if (type) types.add(type[1]!)
    if (line.startsWith('#')) continue
    const sample = /^(\w+)(\{(?:\w+="(?:[^"\\\n]|\\[\\"n])*",?)+\})? (\S+)$/.exec(line)
    expect(sample, line).not.toBeNull()
    const [, name, labels = '', value] = sample!
    expect(types.has(name!) || types.has(name!.replace(/_(bucket|sum|count)$/, '')), line).toBe(true)
    expect(Number.isNaN(Number(value)), line).toBe(false)
    values.set(name! + labels, Number(value))
  }
  return values
}

async function metricsOf({ port }: PageStage): Promise<Map<string, number>> {
  const { status, headers, text } = await ask({ port, path: '/metrics' })
  expect(status).toBe(200)
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/)
  return parse(text)
}

it('metrics tell what was done and what is left; health turns when something needs a person, and back', async () => {
  await oneDay()
  const stage = await setPageStage({ config: { deletions: { grace: '0', hold_above: '1%', hold_min: 0 } } })
  const pictures = [0, 1, 2].map(n => png(4 + n, 4, n).bytes)
  for (const [n, bytes] of pictures.entries()) stage.write(`${n}.png`, bytes)
  const daemon = await stage.run(daemonHere)
  await daemon.told('picture_uploaded', 3)
  await expect
    .poll(() => ask({ port: stage.port, path: '/healthz' }))
    .toMatchObject({ status: 200, text: 'ok\n' })
  const well = [...(await metricsOf(stage)).keys()]
  expect(well.filter(name => /^albumd_(store_up|trouble)/.test(name))).toEqual([])
  const mirror = `mirror="${stage.pictures}"`
  const size = pictures.reduce((sum, { byteLength }) => sum + byteLength, 0)
  const now = async () => Object.fromEntries(await metricsOf(stage))
  // What is fresh is looked at once more, and is no backlog before and after that.
  await expect.poll(now, { interval: 500 }).toMatchObject({
    [`albumd_uploads_total{${mirror}}`]: 3,
    [`albumd_uploaded_bytes_total{${mirror}}`]: size,
    'albumd_requests_total{endpoint="upload",status="200"}': 3,
    'albumd_requests_total{endpoint="send",status="200"}': 3,
    'albumd_requests_total{endpoint="create_album",status="200"}': 1,
    albumd_quota_limit: 5000,
    albumd_quota_used: 3,
    albumd_quota_exhausted: 0,
    albumd_backlog_pictures: 0,
    'albumd_audit_findings{kind="gone"}': 0,
    'albumd_audit_findings{kind="foreign"}': 0,
    albumd_state_open: 1,
    albumd_paused: 0,
    [`albumd_held_deletions{${mirror}}`]: 0,
    [`albumd_oldest_unsynced_seconds{${mirror}}`]: 0,
  })
  expect((await now())[`albumd_scan_duration_seconds_count{${mirror}}`]).toBeGreaterThan(0)

  stage.write('prose.png', 'no picture')
  rmSync(join(stage.pictures, '0.png'))
  rmSync(join(stage.pictures, '1.png'))
  await daemon.told('picture_failed')
  await daemon.told('deletions_held')
  // On a busy machine it may have seen one of the two go before the other.
  await expect.poll(now).toMatchObject({ [`albumd_held_deletions{${mirror}}`]: 2 })
  const health = await ask({ port: stage.port, path: '/healthz' })
  expect(health).toMatchObject({ status: 503, text: expect.stringMatching(/^HELD: .*deletions are held/m) })
  expect(health.text).toMatch(/^FAILED: prose\.png: File is no picture/m)
  const ill = await metricsOf(stage)
  expect(Object.fromEntries(ill)).toMatchObject({
    [`albumd_held_deletions{${mirror}}`]: 2,
    [`albumd_pictures{${mirror},state="failed"}`]: 1,
    'albumd_upload_failures_total{code="NOT_A_PICTURE"}': 1,
    'albumd_trouble{code="HELD"}': 1,
    'albumd_trouble{code="FAILED"}': 1,
  })
  expect(ill.get(`albumd_oldest_unsynced_seconds{${mirror}}`)).toBeGreaterThan(0)
  expect(ill.get('albumd_failures{code="NOT_A_PICTURE"}')).toBe(1)

  // An ignore rule ends a failure that a person can live with.
  stage.write('.albumdignore', 'prose.png')
  await expect.poll(now).toMatchObject({
    [`albumd_pictures{${mirror},state="failed"}`]: 0,
    [`albumd_oldest_unsynced_seconds{${mirror}}`]: 0,
  })
  const { text } = await ask({ port: stage.port, path: '/healthz' })
  expect(text).toMatch(/^HELD: .*\n$/)
  expect(await now()).not.toHaveProperty(['albumd_failures{code="NOT_A_PICTURE"}'])

  await stage.here('deletions', 'discard')
  await expect
    .poll(() => ask({ port: stage.port, path: '/healthz' }), { interval: 1000 })
    .toMatchObject({ status: 200, text: 'ok\n' })
  // A folder in doubt is no picture that failed, for example one whose ignore file can't be read.
  mkdirSync(join(stage.pictures, 'a/.albumdignore'), { recursive: true })
  await daemon.told('mirror_guarded')
  expect(await now()).toMatchObject({
    [`albumd_pictures{${mirror},state="failed"}`]: 0,
    'albumd_failures{code="IGNORE_FILE_UNREADABLE"}': 1,
    [`albumd_mirror_guarded{${mirror}}`]: 1,
  })
  expect(await daemon.stop()).toBe(0)
})

it('health tells between two sessions what the records tell, as status does', async () => {
  const stage = await setStage()
  stage.write('red.png', png(3, 2).bytes)
  writeFileSync(join(stage.home, 'api-key'), 'wrong-key-abcdef')
  expect(await stage.pass()).toMatchObject({ exit_code: 5 })
  const config = await readConfig(stage.config)
  const alertsWith = (state_dir: string) => {
    const queue = new CommandQueue()
    return readAlerts(
      {
        config: () => ({ ...config, state_dir }),
        configFile: null,
        queue,
        problem: () => null,
      },
      Date.now(),
      0,
    )
  }
  expect(alertsWith(config.state_dir)).toContainEqual(expect.objectContaining({ code: 'INVALID_API_KEY' }))
  expect(alertsWith(join(stage.home, 'new'))).toEqual([])
})

it('metrics name what keeps albumd from its work, and leave out the numbers of records that are old', async () => {
  const stage = await setStage()
  const config = await readConfig(stage.config)
  const problem = waitsAlert('STATE_FULL', 'the disk is full')
  const { text } = await new Metrics(() => 0).read(
    {
      config: () => config,
      configFile: null,
      queue: new CommandQueue(),
      problem: () => problem,
    },
    [problem],
    Date.now(),
  )
  const values = Object.fromEntries(parse(text))
  expect(values).toMatchObject({ 'albumd_trouble{code="STATE"}': 1, albumd_state_open: 0 })
  expect(Object.keys(values).filter(name => /backlog|quota|paused|findings/.test(name))).toEqual([])
})
