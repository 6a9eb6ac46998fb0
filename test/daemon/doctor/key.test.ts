import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/parse-config.ts'
import { findKey } from '../../../src/daemon/doctor/config.ts'
import { tempFolder } from '../../temp-folder.ts'

/** As README has it for a service: a config that names no key, and the key beside it. */
function beside(): {
  file: string
  key: string
  find: (env?: NodeJS.ProcessEnv) => ReturnType<typeof findKey>
} {
  const folder = tempFolder()
  chmodSync(folder, 0o755)
  const file = join(folder, 'config.yaml')
  const key = join(folder, 'api-key')
  writeFileSync(key, 'beside\n', { mode: 0o600 })
  const text =
    'host: {base_url: "https://images.example.com/api/v1"}\nmirrors: [{folder: /srv/photos, album: A}]\n'
  const config = parseConfig(text, { file, env: { HOME: folder } })
  return { file, key, find: (env = {}) => findKey(config, file, env) }
}

it('is the one that systemd hands to the service, where config and environment have none', () => {
  const { key, find } = beside()
  expect(find()).toEqual({ key: 'beside', findings: [] })
  expect(find({ ALBUMD_API_KEY: 'mine' }).key).toBe('mine')
  chmodSync(key, 0o644)
  expect(find().findings).toMatchObject([{ status: 'warn', message: expect.stringContaining('chmod 600') }])
})

it.runIf(process.getuid?.() === 0)(
  "is root's alone: others are told that this is right, and what to do",
  () => {
    const { key, find } = beside()
    process.seteuid?.(65534)
    try {
      expect(find()).toMatchObject({
        key: null,
        findings: [{ status: 'warn', message: expect.stringContaining(`${key}: this user can't read it`) }],
      })
    } finally {
      process.seteuid?.(0)
    }
  },
)
