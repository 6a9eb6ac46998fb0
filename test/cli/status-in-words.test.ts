import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { quotaInWords, statusInWords } from '../../src/cli/status-in-words.ts'
import type { MirrorStatus } from '../../src/daemon/report/mirror-status.ts'
import type { Status } from '../../src/daemon/report/status.ts'
import { because, inWords } from '../../src/words/reasons.ts'
import { localTime } from '../../src/words/text.ts'
import { mirrorInSync } from '../daemon/report/mirror-status.ts'

const STATUS: Status = {
  version: '1',
  running: false,
  pid: null,
  other_config: false,
  config_file: null,
  paused: null,
  mirrors: [mirrorInSync(2)],
  removed: [],
  quota: {
    plan: 'free',
    limit: 9,
    used: 0,
    reserve: 0,
    only_reserve_left: false,
    exhausted: false,
    used_up_early: false,
    resumes_at: null,
    next_probe_at: null,
  },
  backlog: {
    pictures: 0,
    compare: 0,
    bytes: 0,
    today: 0,
    today_seconds: 0,
    next_day_at: null,
    per_day: 9,
  },
  waits_for: null,
  store: null,
  machines: [],
  watching: null,
  uploads_wait_until: null,
  loss_ends_at: null,
  delivery: {},
  restorable_since: null,
  restorable_in_part_since: null,
  restorable_gaps: [],
  audit: {
    last: null,
    findings: 0,
    kinds: { gone: 0, changed: 0, foreign: 0, twice: 0 },
    to_upload_again: 0,
    under_way: false,
    left_off: false,
  },
  config_refused: null,
  config_needs_stop: false,
  key_refused: null,
  blocks: [],
  upload_command_failed: null,
  trouble_command_failed: null,
  heartbeat_failed: null,
  failures: [],
}

const CONFIG = { notify: { max_age: 86_400_000 }, host: {} }

const POLLED = {
  folders: 3,
  lost: 0,
  polled: true,
  polled_folders: ['/srv/pool', '/srv/photos/card'],
  reason: null,
  remedy: null,
  overflowed_at: null,
}

const lines = (changes: Partial<Status>) =>
  statusInWords({ ...STATUS, ...changes }, CONFIG, 'albumd.yaml').split('\n')
const text = (changes: Partial<Status>) => lines(changes).join('\n')
const ofMirror = (changes: Partial<MirrorStatus>) => text({ mirrors: [{ ...mirrorInSync(4), ...changes }] })
const labelled = (label: string, changes: Partial<Status>) =>
  lines(changes).filter(line => line.startsWith(`${label} `))

const AT = '2026-01-01T01:00:00.000Z'
const failure = (path: string, changes: object = {}) => ({
  mirror: '/p',
  path,
  code: 'X',
  message: 'said',
  attempts: 1,
  next_attempt_at: null,
  in_doubt: false,
  needs_person: true,
  ...changes,
})
const block = (endpoint: string, code: string, changes: object = {}) => ({
  endpoint,
  code,
  message: 'no',
  since: AT,
  said_at: AT,
  next_try_at: null,
  needs_person: true,
  ...changes,
})

describe('status', () => {
  it('says since when a restore brings back what was, and what it does not bring back', () => {
    const [since, first] = ['2026-11-24T12:00:00.000Z', '2026-11-20T12:00:00.000Z']
    const back = (pending_uploads: number, gone: number, inPart: string | null = null) => {
      const audit = { ...STATUS.audit, kinds: { ...STATUS.audit.kinds, gone } }
      const mirrors = [{ ...mirrorInSync(1), pending_uploads }]
      const of = { restorable_since: since, restorable_in_part_since: inPart, mirrors, audit }
      const all = lines(of)
      const at = all.findIndex(line => line.startsWith('back '))
      return all.slice(at, at + 2)
    }
    expect(back(0, 0)[0]).toContain(`since ${localTime(since)}: albumd restore`)
    expect(back(0, 0)[1]).not.toContain('since')
    expect(back(0, 0, first)[1]).toContain(localTime(first))
    expect(back(8, 0)[0]).toContain('except what is not uploaded yet')
    expect(back(1, 1)[0]).toContain('except 1 image gone from the host and what is not uploaded yet')
  })

  it.each<[Partial<MirrorStatus>, string[], string[]]>([
    [{ files: 200_000, pending_uploads: 1000 }, ['4 of 200,000 pictures on the host, 1,000 to upload'], []],
    [{ failed: 1 }, [], ['restore']],
    [{ failed: 2, failed_with_image: 2 }, ['2 pictures', '"albumd restore /p --at TIME"'], []],
    [{ failed: 1, failed_with_image: 1, state: 'guarded' }, ['"albumd restore OTHER_FOLDER --at TIME"'], []],
    [{ looked_at: false }, ['"albumd sync" or "albumd run" begins'], ['on the host']],
    [{ linked: 2 }, ['2 pictures', 'albumd adopt --verify'], []],
    [{ kept: 1 }, ['1 picture', 'as kept'], []],
    // What becomes of deletions in their grace.
    [{ pending_deletions: 2 }, ['albumd deletions list', 'each'], []],
    [{ pending_deletions: 1 }, ['albumd deletions list'], ['each']],
    [{ pending_deletions: 2, approved_deletions: 2 }, [], ['albumd deletions list']],
  ])('of a mirror with %j', (changes, said, unsaid) => {
    const told = ofMirror(changes)
    for (const words of said) expect(told).toContain(words)
    for (const words of unsaid) expect(told).not.toContain(words)
  })

  it('offers what was emptied to a restore, and what a rule hides to pruning', () => {
    const told = (left: Partial<MirrorStatus['left_out']>) =>
      ofMirror({ left_out: { ...mirrorInSync(2).left_out, ...left }, left_out_with_image: 1 })
    expect(told({ empty: 1 })).toContain('albumd restore /p --at TIME')
    expect(told({ empty: 1 })).not.toContain('--prune-ignored')
    expect(told({ ignored: 1 })).toContain('--prune-ignored')
    expect(told({ ignored: 1 })).not.toContain('albumd restore')
  })

  it('names the first of very many failures', () => {
    const failures = Array.from({ length: 21 }, (_, n) => failure(`${n}/a.png`, { in_doubt: n === 0 }))
    const told = lines({ failures })
    expect(told.filter(line => /^(failed|doubt) /.test(line))).toHaveLength(20)
    expect(labelled('doubt', { failures })).toEqual(['doubt   0/a.png: said (X)'])
    expect(told.join()).toContain(' 1 not named here: ')
    expect(text({ failures: failures.slice(1) })).not.toContain('not named here')
    // What is beyond the failures that `status` holds is counted too.
    expect(text({ failures, mirrors: [{ ...mirrorInSync(4), failed: 3000 }] })).toContain(' 2,980 not named')
  })

  it('says once what is alike of the failures of a folder', () => {
    const failures = Array.from({ length: 10 }, (_, n) =>
      failure(`a/${n}.png`, { message: `Damaged (at byte ${n}). Replace it` }),
    )
    const told = text({ failures: [...failures, failure('b/1.png', { message: 'Damaged (at byte 1)' })] })
    expect(told).toContain('failed  a (10 pictures): Damaged. Replace it (X)\n        0.png, ')
    expect(told).toContain('7.png, …\n')
    expect(told).toContain('failed  b/1.png: Damaged (at byte 1) (X)\n')
    expect(told).toContain(' 2 not named here: ')
  })

  it('says that a mirror needs its reader, and calls none idle of which something failed', () => {
    const does = (mirror: Partial<MirrorStatus>, failures: Status['failures'] = []) =>
      lines({ failures, mirrors: [{ ...mirrorInSync(2), ...mirror }] }).find(line => line.includes('→'))
    expect(does({ failed: 1 }, [failure('a.png')])).toMatch(/: needs you$/)
    expect(does({ held_deletions: 1 })).toMatch(/: needs you$/)
    expect(does({ failed: 1 }, [failure('a.png', { needs_person: false })])).toMatch(/: waiting$/)
    expect(does({ state: 'guarded', failed: 1 }, [failure('a.png')])).toMatch(/: guarded$/)
  })

  it('says what pictures wait for, instead of calling their mirror idle', () => {
    const waiting = { ...mirrorInSync(2), pending_uploads: 1 }
    const does = (mirror: Partial<MirrorStatus>) =>
      lines({ running: true, mirrors: [{ ...waiting, ...mirror }] }).find(line => line.includes('→'))
    expect(does({ reason: 'they wait' })).toMatch(/: waiting$/)
    expect(does({})).toMatch(/: waiting$/)
    expect(does({ state: 'paused', reason: 'paused' })).toMatch(/: paused$/)
    expect(does({ pending_uploads: 0 })).toMatch(/: idle$/)
  })

  it('shows the rows of the table of checks with what to do', () => {
    const told = lines({ config_refused: 'albumd.yaml:2:1: no', config_file: 'albumd.yaml', pid: 7 })
    const at = told.findIndex(line => line.startsWith('config '))
    expect(told[at]).toContain('albumd.yaml:2:1: no')
    expect(told[at + 1]).toMatch(/^ {8}.*kill -HUP 7$/)
    expect(labelled('notify', { upload_command_failed: 'it ended with 1' })[0]).toContain('it ended with 1')
    expect(labelled('held', { mirrors: [{ ...mirrorInSync(2), held_deletions: 3 }] })).toHaveLength(1)
  })

  it('takes ten lines of a mirror where all is well', () => {
    const all: Partial<Status> = {
      running: true,
      mirrors: [{ ...mirrorInSync(2), left_out: { ...mirrorInSync(2).left_out, format: 3 } }],
      restorable_since: AT,
      restorable_in_part_since: AT,
      audit: { ...STATUS.audit, last: AT },
      delivery: { jpeg: 'without metadata' },
    }
    const page = { url: 'http://127.0.0.1:8687/', why: null }
    const now = { pid: 7, config: null, mirrors: [], problem: null, page, picgo_server: null, uploading: [] }
    const rate = { bytes: 0, pictures: 0 }
    const said = statusInWords({ ...STATUS, ...all }, CONFIG, 'albumd.yaml', { ...now, rate })
    expect(said.trimEnd().split('\n')).toHaveLength(10)
  })

  it('has colour on a terminal: red where a person must act', () => {
    vi.stubEnv('FORCE_COLOR', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(text({})).toContain('\u001b[32midle')
    const failures = [failure('a.png'), failure('b.png', { next_attempt_at: AT, needs_person: false })]
    expect(text({ failures })).toMatch(/\u001b\[31mfailed .*a\.png.*\n\u001b\[33mfailed .*b\.png/)
    vi.stubEnv('FORCE_COLOR', undefined)
    expect(text({ failures })).not.toContain('\u001b')
  })

  it('names the images of a mirror that was taken out of the config', () => {
    expect(text({ removed: [{ folder: '/x', images: 2 }] })).toContain(
      '\n2 images of /x, which is in no mirror now, stay on the host\n',
    )
  })

  it('says which folders are polled', () => {
    expect(lines({ running: true }).filter(line => line.startsWith('watch'))).toEqual([])
    const told = lines({ running: true, watching: POLLED })
    for (const folder of POLLED.polled_folders)
      expect(told).toContainEqual(expect.stringMatching(new RegExp(`^watch .*${folder}`)))
  })

  it('does not say that albumd does not run where one with another state_dir does', () => {
    const waits_for = { code: 'LOCKED', message: 'The albumd that runs (pid 7) mirrors /p' }
    expect(lines({ waits_for })[0]).toBe('no albumd runs with this state_dir')
    expect(lines({})[0]).toBe('albumd is not running')
  })

  it('tells apart that no audit has ended and what the last one found', () => {
    const last = new Date(2026, 10, 25, 22).toISOString()
    const audit = (changes: Partial<Status['audit']>) => text({ audit: { ...STATUS.audit, ...changes } })
    expect(audit({})).not.toMatch(/^audit /m)
    expect(audit({ findings: 2, last })).toMatch(/^audit +2 findings .* 2026-11-25 22:00:00 .*albumd audit/m)
    // The state was put back since the audit.
    expect(audit({ findings: 1 })).toMatch(/^audit +1 finding; "albumd audit"/m)
    const kinds = { ...STATUS.audit.kinds, foreign: 2 }
    expect(audit({ last, findings: 2, kinds })).toMatch(
      /^audit +2 images .*\n {8}no other difference at 2026/m,
    )
    expect(audit({ under_way: true })).toMatch(/^audit +one is under way; no audit has ended yet/m)
    expect(audit({ left_off: true })).toMatch(/^audit +one was left before its end/m)
  })

  it('says once why a folder is in doubt', () => {
    const guarded = { ...mirrorInSync(4), state: 'guarded' as const, reason: 'r', doubt: '/p/a' }
    const failures = ['a', 'b'].map(path => failure(path, { code: 'FOLDER_UNREADABLE', in_doubt: true }))
    expect(labelled('doubt', { mirrors: [guarded], failures })).toEqual([
      'doubt   b: said (FOLDER_UNREADABLE)',
    ])
  })

  it('does not call failed what may have arrived, and says until when that is known', () => {
    const unsure = (next_attempt_at: string | null) =>
      labelled('unsure', { failures: [failure('a.png', { code: 'UNCERTAIN', next_attempt_at })] })[0]
    const soon = new Date(Date.now() + 600_000).toISOString()
    expect(unsure(soon)).toContain(localTime(soon))
    for (const over of [AT, null])
      expect(unsure(over)).toBe('unsure  a.png: said (UNCERTAIN; the next pass looks for it again)')
  })

  it('says once what to do where the host refuses the key', () => {
    const refused = (code: string) => text({ blocks: ['list', 'upload'].map(name => block(name, code)) })
    expect(refused('INVALID_API_KEY').split('check host.api_key_file')).toHaveLength(2)
    expect(refused('OTHER_ACCOUNT')).toContain('albumd refuses the key')
    expect(refused('OTHER_ACCOUNT')).not.toContain('check host.api_key_file')
  })

  it('says once what keeps each of several mirrors from its work', () => {
    const waits = { state: 'blocked', reason: 'the state is lost', needs_person: true } as const
    const mirrors = ['/a', '/b'].map(folder => ({ ...mirrorInSync(1), folder, ...waits }))
    expect(lines({ mirrors }).filter(line => line.includes('the state is lost'))).toHaveLength(1)
  })

  it('says each reason that pictures and images of a mirror wait for, and counts those beyond a handful', () => {
    const of = (n: number, more: object) => {
      const step = {
        code: 'incomplete',
        cause: null,
        what: `reason ${n}`,
        at: null,
        as_of: null,
        command: null,
      }
      return { ...step, ...more } as MirrorStatus['waits'][number] & MirrorStatus['image_waits'][number]
    }
    const waits = [
      of(1, { pictures: 21, path: 'a.png' }),
      of(2, { pictures: 1, path: 'b.png' }),
      of(3, { pictures: null, path: null }),
    ]
    const image_waits = [of(4, { images: 2, path: 'c.png' })]
    const said = ofMirror({ pending_uploads: 22, pending_deletions: 2, waits, image_waits, reason: 'first' })
    expect(said).toContain(': waiting\n        a.png and 20 more: reason 1\n        b.png: reason 2\n')
    // What all pictures wait for is said below the mirrors.
    expect(said).not.toContain('reason 3')
    expect(said).toContain('\n        c.png and 1 more: reason 4\n')
    const many = [9, 8, 7, 6, 5, 4, 3].map(n => of(n, { pictures: n, path: `${n}.png` }))
    const lines = ofMirror({ pending_uploads: 42, waits: many })
    expect(lines).toContain('5.png and 4 more: reason 5\n        and 7 more for 2 other reasons\n')
  })

  it('says once what the host said of several endpoints, and since when', () => {
    const [second, last] = ['2026-01-01T02:00:00.000Z', '2026-01-01T03:00:00.000Z']
    const away = { message: 'away', needs_person: false }
    const blocks = [
      block('list', 'HOST_UNREACHABLE', { ...away, since: second, said_at: last }),
      block('upload', 'HOST_UNREACHABLE', { ...away, said_at: second }),
      block('delete', 'OTHER'),
    ]
    expect(labelled('host', { blocks })).toEqual([
      `host    the host is away: away (HOST_UNREACHABLE; since ${localTime(AT)})`,
      `host    the host refuses deletions: no (OTHER; since ${localTime(AT)})`,
    ])
    // While no albumd runs, nothing tries again by itself, and a command must not be refused.
    const next = (changes: Partial<Status>) => labelled('next', { blocks, ...changes })
    expect(next({})).toEqual([expect.stringContaining('albumd sync')])
    for (const changes of [{ running: true }, { paused: { until: null } }, { blocks: blocks.slice(2) }])
      expect(next(changes)).toEqual([])
  })
})

describe('the quota', () => {
  const QUOTA = { ...STATUS.quota, plan: 'professional', limit: 5000, used: 812, reserve: 500 } as const
  const words = (changes: Partial<Status['quota']>, waits: Partial<Status['backlog']> = {}) =>
    quotaInWords({
      quota: { ...QUOTA, ...changes },
      backlog: { ...STATUS.backlog, per_day: 4500, ...waits },
      blocks: [],
      paused: null,
    })
  const AT_ONCE = inWords(because('quota_raised'))

  it('says what is used', () => {
    expect(words({})).toEqual(["quota   812 of 5,000 today by albumd's count (professional)"])
  })

  it('says when a quota that is used up comes back, or when the host is asked again', () => {
    const used = { used: 5000, exhausted: true, next_probe_at: '2026-11-21T16:15:00.000Z' }
    expect(words(used)).toEqual([
      `quota   5,000 of 5,000 today by albumd's count (professional), used up; the host is asked again at ${localTime(used.next_probe_at)}; ${AT_ONCE}`,
    ])
    expect(words({ ...used, resumes_at: '2026-11-21T16:00:03.000Z' })).toEqual([
      `quota   5,000 of 5,000 today by albumd's count (professional), used up until ${localTime('2026-11-21T16:00:03.000Z')}; ${AT_ONCE}`,
    ])
  })

  it('says how long a backlog takes, and what is kept from it', () => {
    const next_day_at = '2026-11-21T16:00:00.000Z'
    const after = `after ${localTime(next_day_at)}`
    const kept = { used: 4500, only_reserve_left: true }
    expect(words(kept, { pictures: 12_345, next_day_at })).toEqual([
      "quota   4,500 of 5,000 today by albumd's count (professional), the rest is kept for new pictures",
      `backlog 12,345 pictures: ${after} at 4,500 a day (quota.reserve keeps 500 for new ones)`,
    ])
    const waits = { pictures: 5056, today: 5000, today_seconds: 500 }
    expect(words({ used: 0 }, { ...waits, next_day_at })[1]).toBe(
      `backlog 5,056 pictures: 5,000 today in about 8 min of sending, the rest ${after}`,
    )
    expect(words({ used: 0 }, waits)[1]).toContain("the rest once the host's next day begins")
    expect(words({}, { pictures: 40, today: 40, today_seconds: 4 })).toHaveLength(1)
  })
})

it('status tells when a running daemon tries again, and how fast it sends', () => {
  const at = '2026-11-25T05:11:30.000Z'
  const clock = new Date(at).toTimeString().slice(0, 5)
  const blocks = [block('upload', 'HOST_UNREACHABLE', { next_try_at: at })]
  const backlog = { ...STATUS.backlog, pictures: 2568, today: 2568, today_seconds: 4 }
  const page = { url: null, why: 'it is taken' }
  const rate = { bytes: 2048, pictures: 9.84 }
  const daemon = { pid: 7, config: null, mirrors: [], problem: null }
  const now = { ...daemon, page, picgo_server: null, uploading: [], rate }
  const said = statusInWords({ ...STATUS, running: true, backlog, blocks }, CONFIG, 'albumd.yaml', now)
  expect(said).toContain(`next try ${clock} (`)
  expect(said).toMatch(/^rate +2 KB\/s, 9\.8 pictures a second$/m)
  expect(said).toMatch(/^backlog 2,568 pictures: about 4 min/m)
  expect(said).toMatch(/^page +it is taken$/m)
})
