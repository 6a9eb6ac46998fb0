import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../pictures.ts'
import { boot, canBoot, seldom } from './booted.ts'
import { inTime, mirrored } from './service-steps.ts'

const red = png(3, 2, 10).bytes

describe.skipIf(!canBoot() && !process.env.CI)('service, with a real systemd', () => {
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
      .poll(() => booted.log().filter(({ event }) => event === 'mirror_guarded'), seldom)
      .not.toEqual([])
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
})
