import { copyFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { type Booted, boot, canBoot, within } from './booted.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes
/** So slow that one with 800 dots a line is a quarter of a minute on the way. */
const slowly = { uploads: { bandwidth: '40KB/s' } }
/** A machine of its own is started for each, and albumd several times. */
const inTime = { timeout: 900_000 }

describe.skipIf(!canBoot() && !process.env.CI)('service, with a real systemd', () => {
  it('is installed and removed, as often as one likes, and says what it does', inTime, async () => {
    const booted = await boot()
    booted.write('red.png', red)
    expect(await booted.service('status')).toMatchObject({ code: 3, out: notInstalled })
    const bare = await booted.service('install')
    expect(bare).toMatchObject({ code: 3, err: '' })
    expect(bare.out.split('\n')).toEqual([
      'made the user albumd',
      'wrote /etc/systemd/system/albumd.service',
      'albumd.service starts with the machine from now on',
      '/etc/albumd/config.yaml: no such file; "albumd init --config /etc/albumd/config.yaml" writes it',
      'not started; when that is done: systemctl restart albumd.service',
      '',
    ])
    booted.setUp()
    expect((await booted.service('install')).out).toContain('\nstarted albumd.service\n')
    await mirrored(booted, 'red.png')
    const { MainPID } = await booted.show('MainPID')
    const again = await booted.service('install')
    expect(again).toMatchObject({ code: 0, err: '' })
    expect(again.out.split('\n')).toEqual([
      'the user albumd is there',
      '/etc/systemd/system/albumd.service is there',
      'albumd.service starts with the machine',
      'albumd.service is running',
      '',
    ])
    await expect
      .poll(async () => (await booted.show('StatusText')).StatusText, within)
      .toBe('1 of 1 picture on the host')
    expect(JSON.parse((await booted.service('status', '--json')).out)).toEqual({
      unit: 'albumd.service',
      file: '/etc/systemd/system/albumd.service',
      installed: true,
      current: true,
      enabled: true,
      state: 'active',
      result: 'success',
      pid: Number(MainPID),
      says: '1 of 1 picture on the host',
      restarts: 0,
    })
    expect(await booted.service('uninstall')).toMatchObject({
      code: 0,
      err: '',
      out: 'stopped albumd.service\nremoved /etc/systemd/system/albumd.service\nconfig, key and state stay, and so does the user albumd\n',
    })
    expect(await booted.service('uninstall')).toMatchObject({
      code: 0,
      err: '',
      out: '/etc/systemd/system/albumd.service is not there: nothing to do\n',
    })
    expect(await booted.service('status')).toMatchObject({ code: 3, out: notInstalled })
  })

  it('reloads, comes back after SIGKILL, and stops within 5 s, its work journaled', inTime, async () => {
    // What was on its way when albumd was killed is found out once its credential has ended.
    const booted = await boot(['RestartSec=100ms'], { host: { credentialTtlMs: 30_000 } })
    const host = { base_url: booted.baseUrl, credential_lifetime: '30s' }
    booted.write('red.png', red)
    booted.setUp({ host, ...slowly })
    await installed(booted)
    await mirrored(booted, 'red.png')

    // What is under way comes to its end first: systemd sees the reload last.
    await underWay(booted, 'large.png', 700)
    booted.setUp({ host, ...slowly, log: { level: 'debug' } })
    await booted.done('systemctl', 'reload', '--no-block', 'albumd')
    await expect.poll(async () => (await booted.show('ActiveState')).ActiveState, within).toBe('reloading')
    // Between the signal and the daemon's word on it systemd may take the reload for done.
    await expect.poll(() => booted.log().map(({ event }) => event), within).toContain('config_taken')
    await expect.poll(async () => (await booted.show('ActiveState')).ActiveState, within).toBe('active')
    expect(await booted.show('NRestarts', 'Result')).toEqual({ NRestarts: '0', Result: 'success' })
    await mirrored(booted, 'red.png', 'large.png')

    await underWay(booted, 'larger.png', 701)
    const { MainPID: before } = await booted.show('MainPID')
    await booted.done('systemctl', 'kill', '--kill-who=main', '--signal=KILL', 'albumd')
    await expect
      .poll(() => booted.show('NRestarts', 'ActiveState'), within)
      .toEqual({ NRestarts: '1', ActiveState: 'active' })
    expect((await booted.show('MainPID')).MainPID).not.toBe(before)
    await mirrored(booted, 'red.png', 'large.png', 'larger.png')

    await underWay(booted, 'last.png', 702)
    await booted.done('systemctl', 'stop', 'albumd')
    expect(await booted.show('ActiveState', 'Result', 'ExecMainStatus')).toEqual({
      ActiveState: 'inactive',
      Result: 'success',
      ExecMainStatus: '0',
    })
    const told = (event: string) => Date.parse(booted.log().findLast(line => line.event === event)!.time)
    expect(told('stopped') - told('stopping')).toBeLessThan(5000)
    const sentBefore = Object.keys(await booted.delivered())
    expect(sentBefore).not.toContain('Photos/last.png')
    booted.setUp({ host })
    await booted.done('systemctl', 'start', 'albumd')
    // `delivered` throws where a picture is there twice.
    await mirrored(booted, 'red.png', 'large.png', 'larger.png', 'last.png')
  })

  it('is started again when it is stuck, and left alone when it is idle', inTime, async () => {
    const hooks = [
      'Environment=NODE_OPTIONS=--import=/srv/stage/hang.mjs',
      'WatchdogSec=15',
      'RestartSec=100ms',
    ]
    // An upload that was cut off by a restart is found out soon.
    const booted = await boot(hooks, { host: { credentialTtlMs: 2000 } })
    copyFileSync(join(import.meta.dirname, 'hang.mjs'), join(booted.home, 'hang.mjs'))
    booted.write('red.png', red)
    booted.setUp({ host: { base_url: booted.baseUrl, credential_lifetime: '2s' } })
    await installed(booted)
    await mirrored(booted, 'red.png')

    const started = await seconds(booted, 'ActiveEnterTimestampMonotonic')
    await expect
      .poll(() => seconds(booted, 'WatchdogTimestampMonotonic'), within)
      .toBeGreaterThan(started + 2 * 15)
    expect(await booted.show('NRestarts', 'ActiveState')).toEqual({ NRestarts: '0', ActiveState: 'active' })

    await booted.done('systemctl', 'kill', '--kill-who=main', '--signal=USR2', 'albumd')
    await expect
      .poll(() => booted.show('NRestarts', 'ActiveState'), within)
      .toEqual({ NRestarts: '1', ActiveState: 'active' })

    // Here its event loop goes on: timers and signals work, and nothing gets done.
    const hangs = join(booted.home, 'disk-hangs')
    writeFileSync(hangs, '')
    booted.write('green.png', green)
    await expect.poll(async () => (await booted.show('NRestarts')).NRestarts, within).toBe('2')
    rmSync(hangs)
    await mirrored(booted, 'red.png', 'green.png')
  })

  it('may read pictures where they are, write its state, and nothing else', inTime, async () => {
    const booted = await boot(['ExecStartPre=/opt/node /srv/stage/probe.mjs'])
    copyFileSync(join(import.meta.dirname, 'probe.mjs'), join(booted.home, 'probe.mjs'))
    const mirrors = [{ folder: '/home/anna/Pictures', album: 'Photos' }]
    booted.setUp({ mirrors })
    booted.put('/home/anna/Pictures/red.png', '')
    writeFileSync(booted.at('/home/anna/Pictures/red.png'), red)
    await booted.done(
      'sh',
      '-c',
      'mkdir /home/open && chmod 777 /home/open /home/anna/Pictures && chmod 666 /home/anna/Pictures/*',
    )
    await booted.done('chmod', '700', '/home/anna')
    const closed = await booted.service('install')
    expect(closed).toMatchObject({ code: 0 })
    expect(closed.out).toContain(
      "/home/anna/Pictures: the user albumd can't read it; it is guarded until it can",
    )
    await expect
      .poll(async () => (await booted.show('StatusText')).StatusText, within)
      .toContain('is guarded')
    await booted.done('chmod', '711', '/home/anna')
    await booted.done('systemctl', 'restart', 'albumd')
    await mirrored(booted, 'red.png')
    expect(booted.log().findLast(({ event }) => event === 'probe')).toEqual({
      event: 'probe',
      read_picture: 'done',
      write_picture: 'EROFS',
      write_open_folder: 'EROFS',
      write_config: 'EROFS',
      write_state: 'done',
      read_credential: 'done',
      read_key_file: 'EACCES',
      read_shadow: 'EACCES',
      read_boot_id: 'done',
      set_sysctl: 'EROFS',
      other_processes: 'hidden',
      disks: 'hidden',
      own_namespace: 'refused',
      mount: 'refused',
      device: 'refused',
      set_user: 'refused',
      set_root: 'refused',
    })
  })

  it('is not started again where only a person can help', inTime, async () => {
    const booted = await boot(['RestartSec=100ms'])
    booted.setUp()
    await installed(booted)
    booted.setUp({ mirors: [] })
    expect((await booted.inside('systemctl', 'restart', 'albumd')).code).not.toBe(0)
    expect(await booted.show('ActiveState', 'ExecMainStatus', 'NRestarts')).toEqual({
      ActiveState: 'failed',
      ExecMainStatus: '2',
      NRestarts: '0',
    })
    expect(booted.err()).toContain('mirrors')
    expect((await booted.service('status')).code).toBe(3)
    booted.setUp()
    rmSync(booted.at('/etc/albumd/api-key'))
    expect((await booted.inside('systemctl', 'restart', 'albumd')).code).not.toBe(0)
    expect(await booted.show('ExecMainStatus', 'NRestarts')).toEqual({ ExecMainStatus: '2', NRestarts: '0' })
    expect(booted.err()).toContain('systemd credential "api-key": is empty')
  })

  it('has one for each account, and one for oneself', inTime, async () => {
    const booted = await boot(['RestartSec=100ms'])
    await booted.done(
      'cp',
      '-r',
      '/etc/systemd/system/albumd.service.d',
      '/etc/systemd/system/albumd@.service.d',
    )
    await booted.done('systemd-sysusers', '--inline', 'u anna 1234 "Anna" /home/anna /bin/sh')
    booted.write('red.png', red)
    booted.setUp()
    await booted.done(
      'sh',
      '-c',
      'mkdir /etc/albumd/work && mv /etc/albumd/config.yaml /etc/albumd/api-key /etc/albumd/work',
    )
    expect(await booted.service('install', '--account', 'work')).toMatchObject({ code: 0, err: '' })
    await mirrored(booted, 'red.png')
    const albumd = ['/opt/node', '/opt/albumd/dist/cli/albumd.js']
    const status = JSON.parse(
      await booted.done(...albumd, 'status', '--json', '--config', '/etc/albumd/work/config.yaml'),
    )
    expect(status).toMatchObject({ running: true, mirrors: [{ synced: 1 }] })
    expect(await booted.service('uninstall', '--account', 'work')).toMatchObject({ code: 0, err: '' })

    await asAnna(booted)
    const own = (...args: string[]) =>
      booted.inside(
        'setpriv',
        '--reuid=anna',
        '--regid=anna',
        '--init-groups',
        '--reset-env',
        'env',
        RUNTIME,
        ...albumd,
        'service',
        ...args,
      )
    expect(await own('install')).toMatchObject({
      code: 2,
      err: expect.stringContaining('only root may do that'),
    })
    const first = await own('install', '--user')
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toContain('\nstarted albumd.service\n')
    await expect.poll(() => booted.delivered(), within).toHaveProperty('Anna/green.png')
    expect((await own('install', '--user')).out).toContain('\nalbumd.service is running\n')
    expect(await own('status', '--user')).toMatchObject({ code: 0, out: expect.stringContaining('active') })
    expect(await own('uninstall', '--user')).toMatchObject({ code: 0, err: '' })
    expect(await own('status', '--user')).toMatchObject({
      code: 3,
      out: expect.stringContaining('not installed'),
    })
  })
})

const notInstalled = 'albumd.service is not installed; albumd service install does that\n'
const RUNTIME = 'XDG_RUNTIME_DIR=/run/user/1234'

async function installed(booted: Booted): Promise<void> {
  const ended = await booted.service('install')
  if (ended.code !== 0) throw new Error(`${ended.out}${ended.err}${booted.err()}`)
}

async function mirrored(booted: Booted, ...names: string[]): Promise<void> {
  const paths = names.map(name => `Photos/${name}`).sort()
  try {
    await expect.poll(async () => Object.keys(await booted.delivered()).sort(), within).toEqual(paths)
  } catch (error) {
    const log = booted
      .log()
      .slice(-20)
      .map(told => JSON.stringify(told))
    throw new Error(`${names.join(', ')}: ${[...log, booted.err()].join('\n')}`, { cause: error })
  }
}

/** Adds a large picture, and waits until it is being sent; a small one that is looked at once more may be beside it. */
async function underWay(booted: Booted, name: string, height: number): Promise<void> {
  const { bytes } = png(800, height)
  const begun = () =>
    booted.log().filter(told => told.event === 'uploads_started' && Number(told.bytes) >= bytes.byteLength)
      .length
  const before = begun()
  booted.write(name, bytes)
  await expect.poll(begun, within).toBeGreaterThan(before)
}

async function seconds(
  booted: Booted,
  name: 'ActiveEnterTimestampMonotonic' | 'WatchdogTimestampMonotonic',
): Promise<number> {
  return Number((await booted.show(name))[name]) / 1e6
}

/** A user's own systemd, with a config, a key and a picture of hers. */
async function asAnna(booted: Booted): Promise<void> {
  const unit = ['[Unit]', 'DefaultDependencies=no', '[Service]', 'Type=notify', 'User=anna', 'Delegate=yes']
  const own = [
    ...unit,
    `Environment=${RUNTIME} HOME=/home/anna`,
    'ExecStart=/lib/systemd/systemd --user --log-target=null',
    '',
  ]
  booted.put('/etc/systemd/system/own.service', own.join('\n'))
  const config = `host: {base_url: '${booted.baseUrl}'}\nmirrors: [{folder: ~/Pictures, album: Anna}]\n`
  booted.put('/home/anna/.config/albumd/config.yaml', config)
  booted.put('/home/anna/Pictures/green.png', '')
  writeFileSync(booted.at('/home/anna/Pictures/green.png'), green)
  await booted.done('cp', '/etc/albumd/work/api-key', '/home/anna/.config/albumd/api-key')
  await booted.done('mkdir', '-p', '/run/user/1234')
  await booted.done('chown', '-R', 'anna:anna', '/home/anna', '/run/user/1234')
  await booted.done('chmod', '700', '/home/anna', '/run/user/1234')
  await booted.done('systemctl', 'daemon-reload')
  await booted.done('systemctl', 'start', 'own')
}
