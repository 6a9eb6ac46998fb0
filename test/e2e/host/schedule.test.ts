import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { serve } from '../../remote/serve.ts'
import { daemonHere, startDaemon } from '../stage/process.ts'
import { call, idOf, setStage } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

/** An hour that is far from now, on both sides. */
function otherHours(): string {
  const hour = (from: number) => `${String((new Date().getHours() + from) % 24).padStart(2, '0')}:00`
  return `${hour(11)}-${hour(12)}`
}

describe('outside of their hours', () => {
  it('no uploads begin, deletions go on, and status says until when', async () => {
    const stage = await setStage()
    stage.write('red.png', red)
    await stage.pass()
    stage.configure({ uploads: { hours: otherHours() }, deletions: { grace: '0' } })
    rmSync(join(stage.pictures, 'red.png'))
    // Of another size: it can't be the deleted one under another name.
    stage.write('large.png', png(30, 20).bytes)
    const daemon = await daemonHere(stage)
    await daemon.told('image_deleted')
    const status = await stage.json('status')
    expect(status.mirrors[0]).toMatchObject({ pending_uploads: 1 })
    expect(new Date(status.uploads_wait_until).getMinutes()).toBe(0)
    expect(Date.parse(status.uploads_wait_until)).toBeGreaterThan(Date.now())
    const { out } = await stage.here('status', '--config', stage.config)
    expect(out).toMatch(/^uploads wait until \d\d:00$/m)
    expect(await daemon.stop()).toBe(0)
    expect(daemon.events().map(({ event }) => event)).not.toContain('uploads_started')
    expect(await stage.listing()).toEqual([])
  })

  it('sync uploads all the same: a person asked', async () => {
    const stage = await setStage({ config: { uploads: { hours: otherHours() } } })
    stage.write('red.png', red)
    expect(await stage.here('sync')).toMatchObject({ code: 0 })
    expect(Object.keys(await stage.delivered())).toEqual(['Photos/red.png'])
  })
})

describe('an audit by schedule', () => {
  it('finds what is gone, repairs nothing, and stands in status and in the log', async () => {
    const stage = await setStage({ config: { watch: { settle: '100ms', audit: '* * * * * *' } } })
    stage.write('red.png', red)
    stage.write('a/green.png', green)
    await stage.pass()
    await call(stage, 'DELETE', `/delete?img=${await idOf(stage, 'Photos/a/green.png')}`)
    const daemon = await daemonHere(stage)
    expect(await daemon.told('audit_found')).toMatchObject({
      kind: 'gone',
      album: 'Photos/a',
      name: 'green.png',
    })
    expect(await daemon.told('audit_finished')).toMatchObject({ albums: 2, findings: 1, skipped: 0 })
    expect((await stage.json('status')).audit).toMatchObject({ findings: 1, last: expect.any(String) })
    expect(await daemon.stop()).toBe(0)
    expect(await stage.listing()).toHaveLength(1)
    expect((await stage.here('status', '--config', stage.config)).out).toMatch(
      /^audit {3}1 finding of the audit that ended at .*; "albumd audit" names it$/m,
    )
  })
})

describe('others are told', () => {
  it('that all is well, by a heartbeat', async () => {
    const asked: string[] = []
    const origin = await serve((request, response) => {
      asked.push(request.url!)
      response.end()
    })
    const stage = await setStage({ config: { notify: { heartbeat: `${origin}/secret-token` } } })
    stage.write('red.png', red)
    const daemon = await daemonHere(stage)
    await expect.poll(() => asked).toHaveLength(1)
    expect(asked[0]).toMatch(/^\/secret-token\?oldest_unsynced=\d+$/)
    expect(await daemon.stop()).toBe(0)
    expect(daemon.out() + daemon.err()).not.toContain('secret-token')
  })

  it('of trouble, by a command that sees no key', async () => {
    const stage = await setStage()
    stage.configure({
      host: { base_url: stage.baseUrl },
      notify: { on_trouble: 'env > telling && mv telling told' },
    })
    renameSync(stage.pictures, `${stage.pictures}-away`)
    const daemon = startDaemon(stage, [], { ALBUMD_API_KEY: stage.key, CREDENTIALS_DIRECTORY: stage.home })
    expect(await daemon.told('trouble')).toMatchObject({ code: 'GUARDED' })
    const told = () => readFileSync(join(stage.home, 'told'), 'utf8')
    await expect.poll(() => gently(told)).toContain('ALBUMD_EVENT=trouble')
    expect(told()).toContain('ALBUMD_CODE=GUARDED\n')
    expect(told()).toContain(`ALBUMD_MESSAGE=${stage.pictures} is not there. `)
    expect(told()).not.toContain(stage.key)
    expect(told()).not.toContain('CREDENTIALS_DIRECTORY')
    expect(await daemon.stop()).toBe(0)
  })
})

function gently<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
