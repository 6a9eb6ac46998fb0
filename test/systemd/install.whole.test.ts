import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { type Booted, boot, canBoot, seldom } from './booted.ts'
import { inTime, mirrored } from './service-steps.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes

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
    booted.put('/etc/albumd/ca.pem', 'root alone reads it', 0o600)
    booted.setUp({ host: { base_url: booted.baseUrl, ca_file: '/etc/albumd/ca.pem' } })
    const closed = await booted.service('install')
    expect(closed).toMatchObject({ code: 3 })
    expect(closed.out).toContain("host.ca_file: the user albumd can't read it")
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
    expect(JSON.parse((await booted.service('status', '--json')).out)).toEqual({
      schema: 1,
      unit: 'albumd.service',
      file: '/etc/systemd/system/albumd.service',
      installed: true,
      current: true,
      enabled: true,
      state: 'active',
      result: 'success',
      pid: Number(MainPID),
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
      err: expect.stringContaining('Only root may do that'),
    })
    const first = await own('install', '--user')
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toContain('\nstarted albumd.service\n')
    await expect.poll(booted.paths, seldom).toContain('Anna/green.png')
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
