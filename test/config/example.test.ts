import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { z } from 'zod'
import { configExample, configJsonSchema } from '../../src/config/example.ts'
import { parse } from './config-text.ts'

/** contract.md's. */
const OF_THE_CONTRACT = `host:
  base_url: https://images.example.com/api/v1   # https only; plain http is accepted for loopback addresses alone
  api_key_file: /etc/albumd/api-key   # or $ALBUMD_API_KEY, or the systemd credential "api-key"
  plan: professional                  # free | professional | flagship (§8: the daily quota)
  daily_quota: 5000                   # instead of the plan's
  quota_reset: "00:00 Asia/Shanghai"  # left out: learned
  requests_per_second: {upload: 10, send: 10, list: 10, delete: 2, create_album: 5}   # §8's by default
  credential_lifetime: 10m            # §8's; shorter only for a host that says so
  upload_form: credential
  site_url: https://images.example.com  # for presign; default: base_url's origin
  ca_file: /etc/albumd/host-ca.pem
  timeout: 60s                        # without progress
account:
  shared: redis://192.168.1.2:6379
  shared_password_file: /etc/albumd/shared-password
  shared_ca_file: /etc/albumd/shared-ca.pem
  machine: studio-1
  when_away: 1/8
mirrors:
  - folder: /srv/photos
    album: Photos                     # slash-separated; "" is the host's root
    deletions: propagate
    ignore: ["*.tmp", "Private/"]     # gitignore syntax; also a .albumdignore file in any folder
deletions:
  grace: 10m
  hold_above: 25%
  hold_min: 20
quota: {probe_every: 15m}
uploads: {concurrency: 8, order: newest, bandwidth: 2MB/s, hours: "22:00-07:00", strip: none, convert: [heic]}
watch: {settle: 1s, rescan: "0 */6 * * *", audit: "30 3 * * 0"}
status_page: {listen: 127.0.0.1:8687}  # or "off"
picgo_server: {listen: 127.0.0.1:36677, folder: /srv/photos/notes}
state_dir: /var/lib/albumd
log: {level: info, format: auto}      # pretty | json | journal
`

/** The example with every key that it has commented out. */
const everyKey = configExample().replace(/^( *)#(?=\w)/gm, '$1')

const committed = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

describe('config.example.yaml', () => {
  it('is what `npm run config` writes', () => {
    expect(committed('config.example.yaml')).toBe(configExample())
  })

  it('names the JSON Schema beside it, for editors', () => {
    const [, schema] = /^# yaml-language-server: \$schema=(.+)$/m.exec(configExample())!
    expect(JSON.parse(committed(schema!))).toHaveProperty('properties.mirrors')
  })

  it('is a config as it stands', () => {
    expect(parse(configExample()).mirrors).toMatchObject([{ folder: '/srv/photos', album: 'Photos' }])
  })

  it('has every key of the contract, with the same values, once nothing is commented out', () => {
    const { watch, notify, ...rest } = parse(everyKey)
    // Those that came later have no default.
    const contract = {
      watch: { ...watch, poll: undefined },
      notify: { ...notify, heartbeat: undefined, on_trouble: undefined, on_upload: undefined },
    }
    expect({ ...rest, ...contract }).toEqual(parse(OF_THE_CONTRACT))
  })

  it('says of every key what it is for', () => {
    const lines = everyKey.split('\n').map(line => line.trim())
    const bare = lines.filter((line, index) => /^(- )?\w+:/.test(line) && !lines[index - 1]?.startsWith('# '))
    expect(bare).toEqual([])
  })
})

describe('config.schema.json', () => {
  const editor = z.fromJSONSchema(JSON.parse(configJsonSchema()))
  const minds = (yaml: string) =>
    (editor.safeParse(parseYaml(yaml)).error?.issues ?? []).map(({ path }) => path[0] ?? null)
  const host = 'host: {base_url: https://images.example.com/api/v1}\n'
  const mirrors = 'mirrors: [{folder: /srv/photos, album: Photos}]\n'

  it('is what `npm run config` writes', () => {
    expect(committed('config.schema.json')).toBe(configJsonSchema())
  })

  it('takes the example, the example with every key, and the contract', () => {
    for (const text of [configExample(), everyKey, OF_THE_CONTRACT]) expect(minds(text)).toEqual([])
  })

  it('minds what the program minds: unknown keys, missing ones, other kinds, values spelt otherwise', () => {
    expect(minds(`${host}${mirrors}upload: {}\n`)).toEqual([null])
    expect(minds(host)).toEqual(['mirrors'])
    expect(minds(`${host}mirrors: []\n`)).toEqual(['mirrors'])
    expect(minds(`${host}${mirrors}uploads: {order: best}\n`)).toEqual(['uploads'])
    expect(minds(`${host}${mirrors}uploads: {concurrency: 65}\n`)).toEqual(['uploads'])
    expect(minds(`${host}${mirrors}watch: {settle: 1 moment}\n`)).toEqual(['watch'])
    expect(minds(`${host}${mirrors}watch: {settle: 1s}\n`)).toEqual([])
  })

  it('says of every key what it is for, and holds nothing that only the program understands', () => {
    const keys = (schema: { properties?: object; items?: object }): object[] => [
      ...Object.values(schema.properties ?? {}).flatMap(key => [key, ...keys(key)]),
      ...(schema.items ? keys(schema.items) : []),
    ]
    const all = keys(JSON.parse(configJsonSchema()))
    expect(all.length).toBeGreaterThan(40)
    expect(all.filter(key => !('description' in key))).toEqual([])
    expect(all.filter(key => 'secret' in key || 'example' in key)).toEqual([])
  })
})
