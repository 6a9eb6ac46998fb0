import { chmodSync, closeSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { exitCodeOf, findingsOf } from '../../../src/cli/commands/doctor.ts'
import type { Finding } from '../../../src/daemon/doctor/finding.ts'
import { RootLocks } from '../../../src/daemon/state/claim.ts'
import { asNobody } from '../../nobody.ts'
import { png } from '../../pictures.ts'
import { bodyOf, failure, serve } from '../../remote/serve.ts'
import { daemonHere, startAlbumd } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

interface Seen {
  code: number
  findings: Finding[]
  /** Those of one check, as `status message`. */
  of(check: Finding['check']): string[]
}

/** What doctor finds, by its code in this process. */
async function doctor(stage: Stage): Promise<Seen> {
  const findings: Finding[] = []
  for await (const finding of findingsOf(stage.config, new AbortController().signal)) findings.push(finding)
  return seen(exitCodeOf(findings), findings)
}

/** What the program tells other programs. */
async function program(stage: Stage): Promise<Seen> {
  const { code, out } = await stage.albumd('doctor', '--json')
  const { exit_code, findings } = JSON.parse(out) as { exit_code: number; findings: Finding[] }
  expect(exit_code).toBe(code)
  return seen(code, findings)
}

function seen(code: number, findings: Finding[]): Seen {
  return {
    code,
    findings,
    of: check => findings.filter(each => each.check === check).map(each => `${each.status} ${each.message}`),
  }
}

const ENDPOINTS = ['list', 'upload', 'create_album', 'delete']

describe('doctor', () => {
  it('finds nothing where all is well, takes nothing of the quota and changes nothing on the host', async () => {
    const stage = await setStage({
      pictures: { 'a.png': png(3, 2).bytes },
      host: { dailyQuota: 2, tls: true },
    })
    const before = [await stage.listing(), await stage.albums()]
    const { code, findings, of } = await program(stage)
    expect(findings.filter(({ status }) => status !== 'pass')).toEqual([])
    expect(code).toBe(0)
    expect(of('tls')).toEqual([
      expect.stringMatching(/^pass the certificate of 127\.0\.0\.1:\d+ is trusted$/),
    ])
    expect(of('endpoint')).toEqual(
      ENDPOINTS.map(name => expect.stringMatching(`^pass ${name} .*: the plan allows`)),
    )
    expect([await stage.listing(), await stage.albums()]).toEqual(before)
    stage.write('b.png', png(4, 2).bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
  })

  it('is not all well while a mirror is guarded', async () => {
    const stage = await setStage({ pictures: { 'a.png': png(3, 2).bytes } })
    rmSync(stage.pictures, { recursive: true })
    stage.write('other.png', png(9, 2).bytes)
    const { code, of } = await program(stage)
    expect(code).toBe(3)
    expect(of('folder')).toEqual([expect.stringMatching(/^fail .*another folder than before/)])
    expect((await stage.status()).mirrors).toMatchObject([
      { state: 'guarded', reason: expect.stringContaining('another folder than before'), needs_person: true },
    ])
    const daemon = await daemonHere(stage)
    await daemon.told('mirror_guarded')
    const { findings } = await doctor(stage)
    // What to do stands in the message, and the status has no more words for it.
    expect(findings.filter(({ check, status }) => check === 'folder' && status === 'fail')).toMatchObject([
      { code: 'GUARDED', message: expect.stringContaining('albumd trust'), remedy: null },
    ])
    expect(await daemon.stop()).toBe(0)
  })

  it('fails where an albumd with another state_dir mirrors a folder, as a start does', async () => {
    const stage = await setStage({ pictures: { 'a.png': png(3, 2).bytes } })
    const theirs = new RootLocks([stage.pictures])
    theirs.lockMissing()
    onTestFinished(() => theirs.release())
    const { code, of } = await doctor(stage)
    expect(code).toBe(3)
    expect(of('daemon')).toEqual([
      expect.stringMatching(
        /^fail The albumd that runs \(pid \d+\) mirrors .*\. Stop it, or put state_dir back$/,
      ),
    ])
    theirs.release()
    expect((await doctor(stage)).of('daemon')).toEqual(['pass no albumd runs with this state'])
  })

  it.each(['http', 'https'])(
    'broken off at a host of %s that is silent, it ends at once and is not all well',
    async protocol => {
      const silent = createTcpServer()
      await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void silent.close())
      const connected = new Promise<Socket>(resolve => silent.once('connection', resolve))
      const stage = await setStage()
      const { port } = silent.address() as AddressInfo
      stage.configure({
        host: { base_url: `${protocol}://127.0.0.1:${port}/api/v1`, api_key_file: 'api-key' },
      })
      const doctor = startAlbumd(stage, ['doctor'])
      const socket = await connected
      onTestFinished(() => void socket.destroy())
      doctor.kill('SIGINT')
      expect(await doctor.ended).toMatchObject({ code: 3 })
      expect(doctor.out()).toMatch(/^broken off; so far \d+ passed\n/)
    },
  )

  it('says what a plan does not allow, and what that means', async () => {
    const stage = await setStage({ host: { plan: 'professional', plansFrom: 'flagship' } })
    const { code, findings } = await doctor(stage)
    const endpoints = findings.filter(({ check }) => check === 'endpoint')
    expect(endpoints.map(({ status }) => status)).toEqual(['warn', 'pass', 'warn', 'warn'])
    expect(endpoints[3]).toMatchObject({
      code: 'PLAN_NOT_SUPPORTED',
      remedy: expect.stringContaining('keep their old images'),
    })
    expect(code).toBe(0)
  })

  it('ends with 5 where the key is refused, and warns where others can read it', async () => {
    const stage = await setStage()
    writeFileSync(join(stage.home, 'api-key'), 'another-key')
    chmodSync(join(stage.home, 'api-key'), 0o644)
    const { code, of, findings } = await program(stage)
    expect(code).toBe(5)
    expect(of('key')).toEqual([
      expect.stringMatching(/^warn .*Other users .* can read the key/),
      expect.stringMatching(/^fail The host refuses the key: .*INVALID_API_KEY/),
    ])
    expect(JSON.stringify(findings)).not.toContain('another-key')
  })

  it('ends with 5 where a changed key is of another account, as sync does, and records nothing', async () => {
    const stage = await setStage({
      pictures: { 'a.png': png(3, 2).bytes },
      host: { apiKeys: ['stage-key-0123456789', 'their-key-0123456789'] },
    })
    writeFileSync(join(stage.home, 'api-key'), 'their-key-0123456789')
    for (const _ of ['once', 'again']) {
      const { code, findings, of } = await doctor(stage)
      expect(code).toBe(5)
      expect(of('key')).toEqual([
        'pass the host accepts it',
        expect.stringMatching(/^fail This key belongs to a different account/),
      ])
      expect(findings.find(({ code: told }) => told === 'OTHER_ACCOUNT')?.remedy).toBe(
        'Restore the old key, or name a new state_dir',
      )
    }
    stage.write('b.png', png(4, 2).bytes)
    expect(await stage.here('sync')).toMatchObject({ code: 5, err: expect.stringContaining('OTHER_ACCOUNT') })
    const daemon = await daemonHere(stage)
    await daemon.told('uploads_stopped')
    await expect.poll(() => doctor(stage)).toMatchObject({ code: 5 })
    const told = (await doctor(stage)).findings.find(({ code }) => code === 'OTHER_ACCOUNT')
    expect(told?.remedy).toContain('Restore the old key')
    expect(await daemon.stop()).toBe(0)
    writeFileSync(join(stage.home, 'api-key'), stage.key)
    expect((await doctor(stage)).of('key')).toEqual(['pass the host accepts it'])
  })

  it('tells all mistakes of the config at once, with exit code 2', async () => {
    const stage = await setStage()
    writeFileSync(stage.config, 'host: {base_ulr: x}\nmirrors: []\n')
    const { code, of } = await program(stage)
    expect(code).toBe(2)
    expect(of('config')).toHaveLength(3)
    expect(of('config')[0]).toMatch(/^fail .*albumd\.yaml:1:1: host\.base_url: is missing/)
  })

  it('minds who else may change the config, or read the state', async () => {
    const stage = await setStage({ config: { notify: { heartbeat: 'https://hc-ping.com/secret' } } })
    await stage.pass()
    chmodSync(stage.config, 0o666)
    chmodSync(join(stage.home, 'state'), 0o755)
    const { code, of, findings } = await doctor(stage)
    expect(code).toBe(0)
    expect(of('config')).toEqual([expect.stringContaining('can change it')])
    expect(of('state')).toEqual([expect.stringMatching(/^warn .*other users can look into it/)])
    expect(JSON.stringify(findings)).not.toContain('hc-ping')
  })

  it('fails for a folder that is missing', async () => {
    const stage = await setStage()
    rmSync(stage.pictures, { recursive: true })
    const { code, of } = await doctor(stage)
    expect(code).toBe(3)
    expect(of('folder')).toEqual([expect.stringMatching(/^fail mirrors\[0\]\.folder: .* is not there/)])
  })

  it('fails for records that are damaged, without an unexpected error', async () => {
    const stage = await setStage()
    for (let n = 0; n < 40; n++) stage.write(`${n}.png`, png(2 + n, 2).bytes)
    expect(await stage.pass()).toMatchObject({ exit_code: 0 })
    const database = join(stage.home, 'state/albumd.db')
    const file = openSync(database, 'r+')
    for (let page = 2; page < statSync(database).size / 4096; page++)
      writeSync(file, Buffer.alloc(2048, 7), 0, 2048, page * 4096)
    closeSync(file)
    const { code, of } = await doctor(stage)
    expect(code).toBe(3)
    expect(of('database')).toEqual([expect.stringMatching(/^fail .*damaged/)])
  })

  it.runIf(process.getuid?.() === 0)(
    "tells another user than albumd's that he can't tell, whether the folder or only its files are closed",
    async () => {
      const stage = await setStage({ pictures: { 'a.png': png(3, 2).bytes } })
      chmodSync(stage.home, 0o755)
      for (const mode of [0o755, 0o700]) {
        chmodSync(join(stage.home, 'state'), mode)
        const { of } = await asNobody(() => doctor(stage))
        expect(of('database')).toEqual([
          expect.stringMatching(
            /^fail .* belongs to another user\. Run this as the user that albumd runs as/,
          ),
        ])
        expect(of('daemon')).toEqual(["warn This user can't tell whether an albumd runs with this state"])
        for (const command of [['status'], ['backup', '/tmp/a.db'], ['move-mirror', 'old', 'pictures']]) {
          expect(await asNobody(() => stage.here(...command, '--config', stage.config))).toMatchObject({
            code: 2,
            err: expect.stringContaining('belongs to another user. Run this as the user that albumd runs as'),
          })
        }
      }
    },
  )

  it('tells once of a certificate that nobody vouches for, of a missing authority, and of a host that is away', async () => {
    const stage = await setStage({ host: { tls: true } })
    const failures = async () => {
      const { code, findings } = await doctor(stage)
      const failed = findings.filter(({ status }) => status === 'fail')
      return [code, ...failed.map(({ check, message }) => `${check} ${message}`)]
    }
    const host = { base_url: stage.baseUrl, api_key_file: 'api-key' }
    stage.configure({ host })
    expect(await failures()).toEqual([3, expect.stringMatching(/^tls Certificate .* is not trusted/)])
    stage.configure({ host: { ...host, ca_file: 'nowhere.pem' } })
    expect(await failures()).toEqual([
      2,
      expect.stringMatching(
        /^tls host\.ca_file: .*nowhere\.pem is not there, and must hold the host's authority/,
      ),
    ])
    stage.configure({ host: { base_url: 'http://127.0.0.1:9/api/v1', api_key_file: 'api-key' } })
    const away = await doctor(stage)
    expect(away.of('host')).toEqual([
      expect.stringMatching(/^fail Cannot reach 127\.0\.0\.1:9 \(connection refused\)/),
    ])
    expect(away.of('endpoint')).toEqual([])
    stage.configure({ host: { base_url: 'https://127.0.0.1:9/api/v1', api_key_file: 'api-key' } })
    const unknown = await doctor(stage)
    expect(unknown.of('host')).toEqual(away.of('host'))
    expect(unknown.of('tls')).toEqual([])
    // Nothing runs that could try again.
    for (const { findings } of [away, unknown])
      expect(findings.find(({ check }) => check === 'host')?.remedy).toBe(
        'Check host.base_url and the network if the host stays away',
      )
  })

  it('works beside a running daemon, asks none of the endpoints then, and tells what the host told that one', async () => {
    const stage = await setStage({
      host: { plan: 'professional', plansFrom: 'flagship' },
      mirror: { album: 'A' },
    })
    stage.write('a.png', png(3, 2).bytes)
    const taken = createTcpServer()
    await new Promise<void>(resolve => taken.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    stage.configure({ status_page: { listen: `127.0.0.1:${port}` } })
    const daemon = await daemonHere(stage)
    await daemon.told('warning')
    await daemon.told('picture_uploaded')
    const { code, of } = await program(stage)
    expect(code).toBe(0)
    expect(of('page')).toEqual([
      expect.stringMatching(`^warn status_page.listen: 127.0.0.1:${port} is taken`),
    ])
    expect(of('daemon')[0]).toBe(`pass albumd runs with this state (pid ${daemon.pid})`)
    expect(of('endpoint')).toHaveLength(4)
    expect(of('endpoint')[1]).toMatch(/^pass upload /)
    expect(of('endpoint').filter(line => /^warn .*\(PLAN_NOT_SUPPORTED\)/.test(line))).not.toEqual([])
    rmSync(stage.pictures, { recursive: true })
    await daemon.told('mirror_guarded')
    const { findings } = await doctor(stage)
    expect(findings.filter(({ status }) => status === 'fail')).toMatchObject([
      { check: 'folder', message: expect.stringContaining('is not there') },
    ])
    expect(await daemon.stop()).toBe(0)
  })

  it('asks a host one question an endpoint that can do nothing there, and reads its clock', async () => {
    const asked: string[] = []
    const origin = await serve(async (request, response) => {
      const body = await bodyOf(request)
      asked.push(
        `${request.headers['x-api-key'] ? 'key' : 'no key'} ${request.method} ${request.url} ${body}`,
      )
      failure(response, 404, 'NOT_FOUND', { date: new Date(Date.now() - 3_600_000).toUTCString() })
    })
    const stage = await setStage()
    stage.configure({ host: { base_url: `${origin}/api/v1`, api_key_file: 'api-key' } })
    const { of } = await doctor(stage)
    expect(asked).toEqual([
      'no key GET /api/v1 ',
      expect.stringMatching(/^key GET \/api\/v1\/list\?page=1 $/),
      expect.stringMatching(/^key POST \/api\/v1\/upload .*"file_size":0/),
      expect.stringMatching(/^key POST \/api\/v1\/create_album \{"name":"","parent_album":"[\da-f-]{36}"\}$/),
      expect.stringMatching(/^key DELETE \/api\/v1\/delete\?img=[\da-f-]{36} $/),
    ])
    expect(of('clock')).toEqual([
      expect.stringMatching(/^fail this machine's clock is 3[56]\d\d s ahead of the host's/),
    ])
    expect(of('endpoint')[0]).toMatch(/^fail list .*NOT_FOUND/)
  })

  it('for people: a line each, its remedy below, no colour off a terminal', async () => {
    const stage = await setStage({ host: { plansFrom: 'flagship' } })
    const { out, code } = await stage.here('doctor')
    expect(code).toBe(0)
    expect(out).toMatch(/^warn {2}endpoint {4}delete .*\n {18}→ Deleted and changed pictures keep/m)
    expect(out).toMatch(/^\d+ passed, 3 warnings\n/)
    expect(out).not.toContain('\u001b')
  })
})
