import { expect, it } from 'vitest'
import { reloadCommand } from '../../src/config/config-file.ts'

it.each([
  ['0::/user.slice/user-1000.slice/session-1.scope', 'kill -HUP 7'],
  ['0::/system.slice/albumd.service\n', 'systemctl reload albumd'],
  ['0::/system.slice/system-albumd.slice/albumd@anna.service\n', 'systemctl reload albumd@anna'],
  [
    '0::/user.slice/user-1000.slice/user@1000.service/app.slice/albumd.service\n',
    'systemctl --user reload albumd',
  ],
])('has a daemon in %s read its config again', (cgroup, command) => {
  expect(reloadCommand(7, cgroup)).toBe(command)
})
