// Run where albumd's service is run: tries what it must and must not be able to do, and prints what came of it.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const { CREDENTIALS_DIRECTORY, STATE_DIRECTORY } = process.env

function outcome(change) {
  try {
    change()
    return 'done'
  } catch (error) {
    return error.code
  }
}

function command(...line) {
  const { status, error } = spawnSync(line[0], line.slice(1))
  return error?.code ?? (status === 0 ? 'done' : 'refused')
}

const seen = {
  read_picture: outcome(() => readFileSync('/home/anna/Pictures/red.png')),
  write_picture: outcome(() => writeFileSync('/home/anna/Pictures/red.png', '')),
  write_open_folder: outcome(() => writeFileSync('/home/open/x', '')),
  write_config: outcome(() => writeFileSync('/etc/albumd/config.yaml', '')),
  write_state: outcome(() => writeFileSync(join(STATE_DIRECTORY, 'probe'), '')),
  read_credential: outcome(() => readFileSync(join(CREDENTIALS_DIRECTORY, 'api-key'))),
  read_key_file: outcome(() => readFileSync('/etc/albumd/api-key')),
  read_shadow: outcome(() => readFileSync('/etc/shadow')),
  read_boot_id: outcome(() => readFileSync('/proc/sys/kernel/random/boot_id')),
  set_sysctl: outcome(() => writeFileSync('/proc/sys/fs/inotify/max_user_watches', '1')),
  other_processes: readdirSync('/proc').includes('1') ? 'seen' : 'hidden',
  disks: readdirSync('/dev').some(name => /^(sd|vd|nvme|mem|kmsg)/.test(name)) ? 'seen' : 'hidden',
  own_namespace: command('unshare', '--user', 'true'),
  mount: command('mount', '-t', 'tmpfs', 'tmpfs', '/mnt'),
  device: command('mknod', '/tmp/null', 'c', '1', '3'),
  set_user: command('setpriv', '--reuid=0', 'true'),
  set_root: command('chroot', '/', 'true'),
}
process.stdout.write(`${JSON.stringify({ event: 'probe', ...seen })}\n`)
