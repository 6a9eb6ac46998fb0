import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { realDisk } from '../../../src/local/disk.ts'
import { lockFolder, lockState } from '../../../src/synced/lock.ts'
import { png } from '../../pictures.ts'
import { serve } from '../../remote/serve.ts'
import { oneLine } from '../stage/fault-stage.ts'
import { PROGRAM, runHere, type Stage, setStage } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes

async function stageWith(hostSettings: object): Promise<Stage> {
  const stage = await setStage()
  stage.write('red.png', red)
  stage.configure({ host: { base_url: stage.baseUrl, api_key_file: 'api-key', ...hostSettings } })
  return stage
}

/** Runs `sync`, in this process but for the first of each code. Answers what it says, which is one line. */
async function syncSays(
  stage: Stage,
  code: number,
  says: RegExp,
  sync = () => stage.here('sync'),
): Promise<string> {
  const run = await sync()
  expect(run.code).toBe(code)
  oneLine(run.err, says)
  return run.err
}

describe('exit codes', () => {
  it('2 and the places where it looked, without a config', async () => {
    const stage = await setStage()
    rmSync(stage.config)
    const { code, err } = await runHere(['sync'], stage.home, { XDG_CONFIG_HOME: join(stage.home, 'xdg') })
    expect(code).toBe(2)
    const places = ['albumd.yaml', 'xdg/albumd/config.yaml'].map(place => join(stage.home, place))
    oneLine(err, /^albumd: No config in .*\. "albumd init" writes one/)
    for (const place of [...places, '/etc/albumd/config.yaml']) expect(err).toContain(place)
  })

  it('2 with file, line and the likely key, for a config with a typo', async () => {
    const stage = await setStage()
    writeFileSync(
      stage.config,
      'host: {base_url: "http://127.0.0.1:1/api/v1"}\nmirors: []\nmirrors: [{folder: pictures, album: A}]\n',
    )
    await syncSays(stage, 2, /albumd\.yaml:2:1: mirors.*mirrors/, stage.sync)
  })

  const host = (changes: object) => {
    return { host: { api_key_file: 'api-key', base_url: 'http://127.0.0.1:1/api/v1', ...changes } }
  }
  it.each<[what: string, config: object, says: RegExp]>([
    [
      'a folder that is missing',
      { mirrors: [{ folder: 'gone', album: 'A' }] },
      /mirrors\[0\]\.folder: .*gone is/,
    ],
    ['a key file that is missing', host({ api_key_file: 'elsewhere' }), /host\.api_key_file: no such file/],
    ['authorities that are missing', host({ ca_file: 'nowhere.pem' }), /host\.ca_file: /],
    ['authorities that are none', host({ ca_file: 'api-key' }), /host\.ca_file: /],
    ['a state folder that is none', { state_dir: 'api-key' }, /is not a folder/],
    // Node's own recursive mkdir never ends below /proc.
    ['a state folder that can not be made', { state_dir: '/proc/nope/state' }, /Check state_dir/],
  ])('2 for %s, before anything is made', async (_, config, says) => {
    const stage = await setStage({ config })
    await syncSays(stage, 2, says)
    expect(readdirSync(stage.home)).not.toContain('state')
  })

  it('2 for a state that belongs to another host', async () => {
    const stage = await setStage({ pictures: { 'red.png': red } })
    const other = stage.baseUrl.replace('127.0.0.1', 'localhost')
    stage.configure({ host: { base_url: other, api_key_file: 'api-key' } })
    const err = await syncSays(stage, 2, /Put host\.base_url back, or name another state_dir/)
    expect(err).toContain(`belongs to ${stage.baseUrl}, the config says ${other}`)
  })

  it('3 for a host that does not answer', async () => {
    const stage = await stageWith({ base_url: 'http://127.0.0.1:9/api/v1' })
    await syncSays(stage, 3, /Cannot reach 127\.0\.0\.1:9 .*\(HOST_UNREACHABLE\)/, stage.sync)
    expect((await stage.json('status')).mirrors[0]).toMatchObject({ pending_uploads: 1, state: 'blocked' })
  })

  it('3 for a host that is something else', async () => {
    const origin = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    })
    const stage = await stageWith({ base_url: `${origin}/api/v1` })
    await syncSays(stage, 3, /answered 200 with something that is not of the interface \(HOST_ANSWER\)/)
  })

  it('3 for a certificate that is not trusted, with the key to set', async () => {
    const stage = await setStage({ host: { tls: true } })
    stage.write('red.png', red)
    stage.configure({ host: { base_url: stage.baseUrl, api_key_file: 'api-key' } })
    await syncSays(stage, 3, /is not trusted\. .*host\.ca_file .*\(HOST_TLS\)/)
  })

  it('4 while another albumd keeps the state, or mirrors the folder with a state of its own', async () => {
    const ours = `Another albumd \\(pid ${process.pid}\\)`
    const [stage, other] = await Promise.all([setStage(), setStage()])
    mkdirSync(join(stage.home, 'state'))
    const locks = [
      lockState(join(stage.home, 'state/lock.db')),
      lockFolder(other.pictures, realDisk.lstat(other.pictures)),
    ]
    onTestFinished(() => {
      for (const lock of locks) lock.release()
    })
    const [run, otherRun, { running }] = await Promise.all([stage.sync(), other.sync(), stage.json('status')])
    expect(running).toBe(true)
    const waits = `albumd: ${ours} is at work here\\. Waiting .*\n`
    const waited = new RegExp(`^${waits}albumd: ${ours} has been at work here for more than 10 s.*\n$`)
    expect(run).toMatchObject({ code: 4, err: expect.stringMatching(waited) })
    const mirrors =
      /^albumd: The albumd that runs \(pid \d+\) mirrors .*pictures with another state_dir .*\n$/
    expect(otherRun).toMatchObject({ code: 4, err: expect.stringMatching(mirrors) })
  })

  it('5 for a first key that the host refuses, even with nothing to send', async () => {
    const stage = await setStage()
    writeFileSync(join(stage.home, 'api-key'), 'wrong-key-abcdef')
    const file = join(stage.home, 'api-key')
    const err = await syncSays(stage, 5, /\(INVALID_API_KEY\); check host\.api_key_file/, stage.sync)
    expect(err).not.toContain('wrong-key-abcdef')
    expect(err).toContain(`host.api_key_file (${file})\n`)
    expect((await stage.here('status')).out).toContain(`  check host.api_key_file (${file})\n`)
    expect((await stage.here('doctor')).out).toContain(`check host.api_key_file (${file})\n`)
  })

  it('5 for a plan that has no use of the interface', async () => {
    const stage = await setStage({ host: { plan: 'free' } })
    stage.write('red.png', red)
    await syncSays(stage, 5, /\(PLAN_NOT_SUPPORTED\); "albumd doctor" says/)
  })

  it('0 on a plan that can upload but not list, create albums or delete: pictures go to the root', async () => {
    const stage = await setStage({ pictures: { 'a/red.png': red }, host: { plansFrom: 'flagship' } })
    const { out } = await stage.here('ls', '--format', 'json')
    expect(JSON.parse(out)).toMatchObject([{ state: 'synced', album: '' }])
  })
})

describe('an error', () => {
  it.each([['--log-level', 'debug'], ['--log-level=debug']])('shows its stack with %s', async (...level) => {
    const stage = await setStage()
    const { code, err } = await stage.here('status', '--config', 'nowhere', ...level)
    expect(code).toBe(2)
    expect(err).toContain('    at ')
  })

  it('names all its mistakes at once', async () => {
    const stage = await setStage()
    writeFileSync(
      stage.config,
      stringify({ host: { base_url: 'ftp://x' }, mirrors: [{ folder: 'pictures', album: '/A' }] }),
    )
    const { code, err } = await stage.here('sync')
    expect(code).toBe(2)
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^albumd: .*albumd\.yaml:2:3: host\.base_url: must begin with https:/),
      expect.stringMatching(/^albumd: .*albumd\.yaml:5:5: mirrors\[0\]\.album: is '\/A', must not begin/),
    ])
  })
})

it('--json has a schema on top, and an error is JSON too', async () => {
  const stage = await setStage({ pictures: { 'a.png': red } })
  const told = async (...args: string[]) => {
    const { code, out } = await stage.here(...args, '--json')
    return { code, said: JSON.parse(out) }
  }
  for (const args of [
    ['status'],
    ['ls'],
    ['why', 'a.png'],
    ['url', 'a.png'],
    ['sync'],
    ['deletions', 'list'],
    ['doctor'],
  ])
    expect((await told(...args)).said, args.join(' ')).toMatchObject({ schema: 1 })
  const { said } = await told('ls')
  expect(said.pictures).toMatchObject([{ cdn_url: expect.any(String), sha256: expect.any(String) }])
  const message = expect.any(String)
  expect(await told('url', '/etc')).toEqual({
    code: 2,
    said: { schema: 1, error: { code: 'USAGE', message } },
  })
  expect(await told('put', 'nowhere.png')).toMatchObject({ code: 2, said: { error: { code: 'USAGE' } } })
  stage.write('new.png', png(5, 5).bytes)
  expect(await told('url', 'new.png')).toMatchObject({ code: 3, said: { error: { code: 'LEFT' } } })
})

it.skipIf(!existsSync('/dev/full') && !process.env.CI)(
  'a log that can not be written does not end the daemon',
  async () => {
    const stage = await setStage()
    stage.write('red.png', png().bytes)
    const line = `exec '${process.execPath}' '${PROGRAM}' run --config '${stage.config}' > /dev/full`
    const daemon = spawn('sh', ['-c', line], { cwd: stage.home, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    daemon.stderr.on('data', text => {
      said += text
    })
    const ended = new Promise(resolve => daemon.once('close', resolve))
    await expect.poll(() => stage.delivered(), { interval: 500 }).toHaveProperty(['Photos/red.png'])
    daemon.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(said).toBe('')
  },
)

it.skipIf(!existsSync('/dev/full') && !process.env.CI)(
  'a command whose answer can not be written fails in one line',
  async () => {
    const stage = await setStage()
    const { code, err } = await stage.shell(`status --config '${stage.config}' > /dev/full`)
    expect({ code, err }).toEqual({
      code: 1,
      err: 'albumd: The output could not be written (ENOSPC). Make room\n',
    })
  },
)

it('status --watch ends once nobody reads along', async () => {
  const stage = await setStage()
  const { code, out } = await stage.shell(`status --watch --config '${stage.config}' | head -n 1`)
  expect({ code, out }).toEqual({ code: 0, out: 'albumd is not running\n' })
})
