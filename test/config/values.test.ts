import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import { configText, parse, problemsOf, SHORTEST } from './config-text.ts'

const LOOPBACK = 'must begin with https://; plain http is for loopback addresses alone'
const STORE_ADDRESS = 'must be an address such as redis://192.168.1.2:6379 or rediss://store.example.com:6380'

describe('a config in the units of the program', () => {
  it('gives every key that is left out the default of the contract', () => {
    expect(parse(SHORTEST)).toEqual({
      account: { machine: hostname(), when_away: 1 / 8 },
      host: {
        base_url: 'https://images.example.com/api/v1',
        site_url: 'https://images.example.com',
        key_beside: '/etc/x/albumd.yaml.api-key',
        plan: 'professional',
        requests_per_second: { upload: 10, send: 10, list: 10, delete: 2, create_album: 5 },
        credential_lifetime: 600_000,
        upload_form: 'credential',
        timeout: 60_000,
      },
      mirrors: [{ folder: '/srv/photos', album: 'Photos', deletions: 'propagate', ignore: [] }],
      deletions: {
        grace: 600_000,
        grace_many: 86_400_000,
        hold_above: 0.25,
        hold_min: 20,
      },
      quota: { probe_every: 900_000, reserve: 0.1 },
      uploads: { concurrency: 8, order: 'newest', strip: 'none', convert: [] },
      watch: {
        incomplete: 'leave',
        incomplete_after: 600_000,
        settle: 1000,
        rescan: '0 */6 * * *',
        audit: '30 3 * * 0',
      },
      notify: { every: 300_000, max_age: 86_400_000 },
      status_page: { listen: { host: '127.0.0.1', port: 8687 } },
      picgo_server: { listen: { host: '127.0.0.1', port: 36677 } },
      state_dir: '/home/ann/.local/state/albumd',
      log: { level: 'info', format: 'auto' },
      gone: [],
    })
  })

  it('works with keys that are gone, and says so of each', () => {
    const { gone, ...config } = parse(configText({ rest: 'deletions:\n  versions: 3\n  grace: 1h\n' }))
    expect(config.deletions).toEqual(parse(configText({ rest: 'deletions: {grace: 1h}' })).deletions)
    expect(gone).toEqual([
      expect.stringMatching(/^\/etc\/x\/albumd.yaml:7:3: deletions.versions: this key is gone/),
    ])
    expect(parse(configText({ rest: 'deletions: {versions: }' })).gone).toHaveLength(1)
  })

  it('takes a key with nothing after it, or a section of comments alone, for one left out', () => {
    const empty = configText({
      host: ['ca_file:', 'plan:'],
      rest: 'deletions:\n  # grace: 1h\nlog: {level: }\n',
    })
    expect(parse(empty)).toEqual(parse(SHORTEST))
  })

  it.each<[string, (config: Config) => unknown, [string, unknown][]]>([
    [
      'deletions: {grace: ?}',
      ({ deletions }) => deletions.grace,
      [
        ['0', 0],
        ['90s', 90_000],
        ['1h30m', 5_400_000],
        ['1h 30m', 5_400_000],
        ['1.5d', 129_600_000],
        ['365d', 31_536_000_000],
      ],
    ],
    [
      'uploads: {bandwidth: ?}',
      ({ uploads }) => uploads.bandwidth,
      [
        ['1KB/s', 1024],
        ['1.5 mb/s', 1_572_864],
        ['2MB/s', 2_097_152],
      ],
    ],
    [
      'deletions: {hold_above: ?}',
      ({ deletions }) => deletions.hold_above,
      [
        ['0%', 0],
        ['12.5%', 0.125],
        ['100 %', 1],
      ],
    ],
    ['uploads: {hours: ?}', ({ uploads }) => uploads.hours, [['22:00-7:30', { from: 1320, to: 450 }]]],
    [
      'status_page: {listen: ?}',
      ({ status_page }) => status_page.listen,
      [
        ['"[::1]:80"', { host: '::1', port: 80 }],
        ['localhost:0', { host: 'localhost', port: 0 }],
        ['0.0.0.0:8687', { host: '0.0.0.0', port: 8687 }],
        ['off', null],
      ],
    ],
    [
      'picgo_server: {folder: /srv/photos/notes, listen: ?}',
      ({ picgo_server }) => picgo_server.listen,
      [
        ['"[::1]:80"', { host: '::1', port: 80 }],
        ['localhost:0', { host: 'localhost', port: 0 }],
        ['127.0.0.2:36677', { host: '127.0.0.2', port: 36677 }],
        ['off', null],
      ],
    ],
    [
      'picgo_server: {folder: ?}',
      ({ picgo_server }) => picgo_server.folder,
      [
        ['/srv/photos', '/srv/photos'],
        ['../../srv/photos/notes/', '/srv/photos/notes'],
      ],
    ],
  ])('reads %s', (line, read, cases) => {
    for (const [written, value] of cases)
      expect(read(parse(configText({ rest: line.replace('?', written) }))), written).toEqual(value)
  })

  it.each<[string, string, string]>([
    [
      'deletions: {grace: ?}',
      'must be a duration such as 90s, 10m or 1h30m, from 0 to 365d',
      '-5m|5|"5"|m|1h30|5 parsecs 3m|"1,5s"|10M|366d|.inf|.nan|true|[]',
    ],
    [
      'uploads: {bandwidth: ?}',
      'must be a rate of at least 1KB/s, such as 500KB/s or 2MB/s',
      '2MB|2000|0.5KB/s|-2MB/s|2Mbit/s|5 B/s',
    ],
    ['deletions: {hold_above: ?}', 'must be a percentage such as 25%, at most 100%', '25|0.25|101%|-1%'],
    [
      'account: {when_away: ?}',
      'must be a share such as 1/8 or 12.5%, above 0 and at most 1',
      '2|0|9/8|200%',
    ],
    [
      'uploads: {hours: ?}',
      'must be two different times such as 22:00-07:00, each up to 23:59',
      '22:00|22:00-24:00|22:00-22:00|1:00-2:00-3:00|22:60-23:00|22-7',
    ],
    [
      'status_page: {listen: ?}',
      'must be an address such as 127.0.0.1:8687 or [::1]:8687, an IP address or localhost with a port up to 65535, or "off"',
      'false|8687|127.0.0.1|127.0.0.1:65536|::1:80|"[127.0.0.1]:80"|example.com:80',
    ],
    [
      'picgo_server: {folder: /srv/photos, listen: ?}',
      'must be within this machine, such as 127.0.0.1:36677, [::1]:36677 or localhost:36677, or "off"',
      '0.0.0.0:36677|192.168.1.2:36677|"[::]:36677"|"[::2]:36677"',
    ],
    [
      'watch: {rescan: ?}',
      'must be a cron expression such as "0 */6 * * *", with minutes up to 59, hours up to 23, and a day that exists',
      '61 * * * *|hourly|"0 0 31 2 *"|5',
    ],
  ])('refuses what is none in %s', (line, says, wrong) => {
    for (const written of wrong.split('|'))
      expect(problemsOf(configText({ rest: line.replace('?', written) })), written).toEqual([
        expect.stringContaining(says),
      ])
  })

  it('reads the quota reset as minutes after midnight in a time zone', () => {
    const { host } = parse(configText({ host: ['quota_reset: 08:30 Asia/Shanghai'] }))
    expect(host.quota_reset).toEqual({ minutes: 510, time_zone: 'Asia/Shanghai' })
  })

  it.each(['00:00', '24:00 UTC', '00:00 Mars/Olympus', '00:00 UTC now', 'UTC 00:00'])(
    'refuses the quota reset %s',
    written => {
      expect(problemsOf(configText({ host: [`quota_reset: ${written}`] }))).toEqual([
        expect.stringContaining(
          'must be a time and a time zone such as "00:00 Asia/Shanghai", with a time up to 23:59 and a zone that this system knows',
        ),
      ])
    },
  )

  it('takes audits that are off, and refuses a schedule that never comes', () => {
    expect(parse(configText({ rest: 'watch: {audit: off}' })).watch.audit).toBeNull()
    expect(problemsOf(configText({ rest: 'watch: {audit: "0 0 L-30 2 *"}' }))).toEqual([
      expect.stringMatching(
        /must be a cron expression such as "30 3 \* \* 0", with .* a day that exists, or "off"$/,
      ),
    ])
  })

  it.each(['https://hc-ping.com/5f1b?create=1', 'http://127.0.0.1:3001/api/push/x?status=up'])(
    'asks the heartbeat %s as it is written',
    written => {
      expect(parse(configText({ rest: `notify: {heartbeat: "${written}"}` })).notify.heartbeat).toBe(written)
    },
  )

  it('refuses a heartbeat that others could read, and does not repeat it', () => {
    const [problem] = problemsOf(configText({ rest: 'notify: {heartbeat: "http://hc-ping.com/5f1b"}' }))
    expect(problem).toContain('must begin with https://')
    expect(problem).not.toContain('5f1b')
  })
})

describe("the host's addresses", () => {
  const withUrl = (url: string) => SHORTEST.replace('https://images.example.com/api/v1', url)

  it.each([
    ['https://images.example.com/api/v1/', 'https://images.example.com/api/v1'],
    ['https://Images.Example.com:443/tenant/api/v1', 'https://images.example.com/tenant/api/v1'],
    ['http://127.0.0.1:8443/api/v1', 'http://127.0.0.1:8443/api/v1'],
    ['http://127.9.9.9/api/v1', 'http://127.9.9.9/api/v1'],
    ['http://[::1]:1/api/v1', 'http://[::1]:1/api/v1'],
    ['http://localhost/api/v1', 'http://localhost/api/v1'],
  ])('takes base_url %s', (written, address) => {
    expect(parse(withUrl(written)).host.base_url).toBe(address)
  })

  it.each([
    ['http://images.example.com/api/v1', LOOPBACK],
    ['http://127.evil.example/api/v1', LOOPBACK],
    ['http://localhost.example/api/v1', LOOPBACK],
    ['ftp://images.example.com/api/v1', 'must begin with https://'],
    ['images.example.com/api/v1', 'must be an address such as https://images.example.com/api/v1'],
    ['"https://images.example.com /api/v1"', 'must be an address such as https://images.example.com/api/v1'],
    ['https://images.example.com/api/v2', 'must end in /api/v1'],
    ['https://images.example.com/api/v1//', 'must end in /api/v1'],
    ['https://images.example.com/myapi/v1', 'must end in /api/v1'],
    ['https://ann:hunter2@images.example.com/api/v1', 'must not carry a user name or password'],
    ['https://images.example.com/api/v1?key=hunter2', 'must not carry a query (?) or a fragment (#)'],
    ['https://images.example.com/api/v1?', 'must not carry a query (?) or a fragment (#)'],
    ['"https://images.example.com/api/v1#"', 'must not carry a query (?) or a fragment (#)'],
  ])('refuses base_url %s, and does not repeat it', (written, message) => {
    expect(problemsOf(withUrl(written))).toEqual([`albumd.yaml:2:3: host.base_url: ${message}`])
  })

  it.each([
    [
      'redis://:hunter2@store.example.com',
      'must not carry a password. Write it to a file, and name the file in shared_password_file',
    ],
    ['redis://store.example.com/photos', STORE_ADDRESS],
    ['https://store.example.com', STORE_ADDRESS],
  ])('refuses account.shared %s, and does not repeat it', (written, message) => {
    expect(problemsOf(configText({ rest: `account: {shared: "${written}"}\n` }))[0]).toMatch(
      new RegExp(`account.shared: ${message}$`),
    )
  })

  it('refuses a site_url with a path', () => {
    expect(problemsOf(configText({ host: ['site_url: https://images.example.com/site'] }))).toEqual([
      'albumd.yaml:3:3: host.site_url: must have nothing after its host name and port',
    ])
  })

  it("takes more requests a second than the host's for a host on this machine alone", () => {
    const fast = configText({ host: ['requests_per_second: {delete: 50}'] })
    expect(problemsOf(fast)).toEqual([
      'albumd.yaml:3:25: host.requests_per_second.delete: is 50, must be at most 2: the host allows no more',
    ])
    const local = parse(fast.replace('https://images.example.com', 'https://127.0.0.1:8443'))
    const rates = { upload: 10, send: 10, list: 10, delete: 50, create_album: 5 }
    expect(local.host.requests_per_second).toEqual(rates)
  })

  it('takes as many as go for such a host, and for no other', () => {
    const unlimited = configText({ host: ['requests_per_second: {send: unlimited}'] })
    expect(problemsOf(unlimited)).toEqual([
      'albumd.yaml:3:25: host.requests_per_second.send: is unlimited, must be at most 10: the host allows no more',
    ])
    const local = parse(unlimited.replace('https://images.example.com', 'https://127.0.0.1:8443'))
    expect(local.host.requests_per_second.send).toBe(Number.POSITIVE_INFINITY)
    expect(problemsOf(configText({ host: ['requests_per_second: {send: many}'] }))).toEqual([
      `albumd.yaml:3:25: host.requests_per_second.send: is 'many', must be a whole number from 1 to 1000, or "unlimited"`,
    ])
    const above = configText({ host: ['requests_per_second: {send: 2000}'] })
    expect(problemsOf(above.replace('https://images.example.com', 'https://127.0.0.1:8443'))).toEqual([
      'albumd.yaml:3:25: host.requests_per_second.send: is 2000, must be a whole number from 1 to 1000, or "unlimited"',
    ])
  })
})

describe('paths', () => {
  const paths = configText({
    host: ['api_key_file: key', 'ca_file: ../ca.pem'],
    rest: 'state_dir: ~/state\n',
  })

  it("begin at the config's folder where they are relative, and at home behind a ~", () => {
    const config = parse(paths.replace('/srv/photos', '~/Pictures'))
    expect(config.host).toMatchObject({ api_key_file: '/etc/x/key', ca_file: '/etc/ca.pem' })
    expect(config.state_dir).toBe('/home/ann/state')
    expect(config.mirrors[0]?.folder).toBe('/home/ann/Pictures')
  })

  it('with a ~ are refused where there is no home', () => {
    expect(problemsOf(paths, {})).toEqual([
      'albumd.yaml:8:1: state_dir: begins with ~, and $HOME is not set; write the whole path',
    ])
  })

  it('of the state come from systemd, from where the config lies, or from the user', () => {
    const stateDir = (env: NodeJS.ProcessEnv, file: string) => parse(SHORTEST, env, file).state_dir
    const user = { HOME: '/home/ann' }
    expect(stateDir({ ...user, STATE_DIRECTORY: '/var/lib/a:/var/lib/b' }, '/etc/albumd/config.yaml')).toBe(
      '/var/lib/a',
    )
    expect(stateDir(user, '/etc/albumd/config.yaml')).toBe('/var/lib/albumd')
    expect(stateDir(user, '/etc/albumd/work/config.yaml')).toBe('/var/lib/albumd/work')
    expect(stateDir(user, '/etc/albumd-more/config.yaml')).toBe('/home/ann/.local/state/albumd')
    expect(stateDir({ ...user, XDG_STATE_HOME: '/state' }, '/home/ann/albumd.yaml')).toBe('/state/albumd')
    expect(stateDir({ ...user, XDG_STATE_HOME: 'relative' }, '/home/ann/albumd.yaml')).toBe(
      '/home/ann/.local/state/albumd',
    )
    expect(problemsOf(SHORTEST, {})).toEqual([
      'albumd.yaml:1:1: state_dir: is missing, and neither $STATE_DIRECTORY nor $HOME is set',
    ])
  })
})
