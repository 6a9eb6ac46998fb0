import { describe, expect, it } from 'vitest'
import { quotaInWords, statusInWords } from '../../src/cli/status-in-words.ts'
import { type Status, tellingWaits } from '../../src/daemon/report/status.ts'
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
    moved: 0,
    today: 0,
    today_seconds: 0,
    next_day_at: null,
    days: 0,
    per_day: 9,
    done_by: null,
  },
  waits_for: null,
  store: null,
  machines: [],
  watching: null,
  uploads_wait_until: null,
  loss_ends_at: null,
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
  deleted_more: null,
  new_state: null,
  others_images: null,
  config_refused: null,
  config_needs_stop: false,
  key_refused: null,
  blocks: [],
  upload_command_failed: null,
  failures: [],
}

const CONFIG = { notify: { max_age: 86_400_000 }, host: {} }

const FAILED = { in_doubt: false, needs_person: true }

const lines = (changes: Partial<Status>) =>
  statusInWords({ ...STATUS, ...changes }, CONFIG, 'albumd.yaml').split('\n')

describe('status', () => {
  it('says that moments before those that come back as a whole come back in part', () => {
    const [since, first] = ['2026-11-24T12:00:00.000Z', '2026-11-20T12:00:00.000Z']
    const told = (inPart: string | null) => {
      const all = lines({ restorable_since: since, restorable_in_part_since: inPart })
      return all.slice(all.findIndex(line => line.startsWith('back ')))
    }
    const whole = `back    to any moment since ${localTime(since)}: albumd restore FOLDER --at TIME`
    expect(told(null).slice(0, 1)).toEqual([whole])
    expect(told(null).join('\n')).not.toContain('before that')
    expect(told(first).slice(0, 2)).toEqual([
      whole,
      `        before that, since ${localTime(first)}, without some older versions and deleted pictures`,
    ])
  })

  it('does not promise that what is not uploaded yet comes back', () => {
    const since = '2026-11-24T12:00:00.000Z'
    const told = (pending_uploads: number, gone: number) => {
      const audit = { ...STATUS.audit, kinds: { ...STATUS.audit.kinds, gone } }
      const mirrors = [{ ...mirrorInSync(1), files: 1 + pending_uploads, pending_uploads }]
      return lines({ restorable_since: since, mirrors, audit }).find(line => line.startsWith('back '))
    }
    const back = `back    to any moment since ${localTime(since)}`
    const how = ': albumd restore FOLDER --at TIME'
    expect(told(0, 0)).toBe(`${back}${how}`)
    expect(told(8, 0)).toBe(`${back}, except 8 pictures not uploaded yet${how}`)
    expect(told(1, 1)).toBe(`${back}, except 1 image gone from the host and 1 picture not uploaded yet${how}`)
  })

  it('offers what was emptied to a restore, and what a rule hides to pruning', () => {
    const told = (left: Partial<Status['mirrors'][number]['left_out']>) => {
      const mirror = mirrorInSync(2)
      const left_out = { ...mirror.left_out, ...left }
      return lines({ mirrors: [{ ...mirror, left_out, left_out_with_image: 1 }] }).join('\n')
    }
    const restore = 'left out keeps its image; "albumd restore /p --at TIME" brings back what was emptied'
    const prune = '"albumd sync --prune-ignored" gives up what a rule hides'
    expect(told({ empty: 1 })).toContain(`${restore}\n`)
    expect(told({ ignored: 1 })).toContain(`left out keeps its image; ${prune}\n`)
    expect(told({ empty: 1, ignored: 1 })).toContain(`${restore}; ${prune}\n`)
  })

  it('names the first of very many failures', () => {
    const failed = { mirror: '/p', code: 'X', message: 'said', attempts: 1, next_attempt_at: null }
    const failures = Array.from({ length: 21 }, (_, n) => ({
      ...failed,
      path: `${n}.png`,
      ...FAILED,
      in_doubt: n === 0,
    }))
    const told = lines({ failures })
    expect(told.filter(line => /^(failed|doubt) /.test(line))).toHaveLength(20)
    expect(told.filter(line => /^doubt/.test(line))).toEqual(['doubt   0.png: said (X)'])
    expect(told).toContain('        and others: "albumd status --json" names up to 1,000')
    expect(lines({ failures: failures.slice(1) }).join('\n')).not.toContain('and others')
  })

  it('writes all large numbers alike', () => {
    const mirror = { ...mirrorInSync(1128), files: 200_000, pending_uploads: 197_872, failed: 1000 }
    expect(lines({ mirrors: [mirror] })).toContain(
      '        1,128 of 200,000 pictures on the host, 197,872 to upload, 1,000 failed',
    )
  })

  it('says that the host still has the images of before of pictures that failed', () => {
    const told = (changes: object) => lines({ mirrors: [{ ...mirrorInSync(4), ...changes }] }).join('\n')
    expect(told({ failed: 2, failed_with_image: 2 })).toContain(
      '\n        2 pictures that failed still have their image of before on the host: "albumd restore /p --at TIME" brings them back\n',
    )
    expect(told({ failed: 1, failed_with_image: 1, state: 'guarded' })).toContain(
      '1 picture that failed still has its image of before on the host: "albumd restore OTHER_FOLDER --at TIME" brings it back',
    )
    expect(told({ failed: 1 })).not.toContain('of before')
  })

  it('says what pictures wait for, instead of calling their mirror idle', () => {
    const waiting = { ...mirrorInSync(2), pending_uploads: 1 }
    const unfinished = { ...waiting, unfinished: 1 }
    const does = (changes: Partial<Status>) =>
      lines(tellingWaits({ ...STATUS, running: true, mirrors: [waiting], ...changes }, 0)).find(line =>
        line.includes('→'),
      )
    expect(does({ running: false })).toMatch(/: waiting for "albumd sync" or "albumd run"$/)
    const at = new Date(2026, 10, 25, 22).toISOString()
    expect(does({ uploads_wait_until: at })).toMatch(/: waiting until 22:00 \(uploads\.hours\)$/)
    // Whatever else a picture waits for, it does not go before that.
    const lost = { loss_ends_at: at, mirrors: [unfinished] }
    expect(does(lost)).toMatch(/: waiting: The state was lost or put back .* wait until 2026-11-25 22:00:00/)
    expect(does({ ...lost, running: false })).toMatch(/"albumd run": The state was lost .* 22:00:00/)
    const usedUp = { quota: { ...STATUS.quota, exhausted: true } }
    expect(does(usedUp)).toMatch(/: waiting for quota$/)
    // "albumd sync" would send nothing either.
    const ask = (next_probe_at: number) =>
      does({
        running: false,
        quota: { ...usedUp.quota, next_probe_at: new Date(next_probe_at).toISOString() },
      })
    expect(ask(1)).toMatch(/: waiting for quota$/)
    // From then on a command asks the host.
    expect(ask(0)).toMatch(/: waiting for "albumd sync" or "albumd run"$/)
    expect(does({ quota: { ...STATUS.quota, only_reserve_left: true } })).toMatch(
      /: waiting for quota: the rest is kept for new pictures$/,
    )
    const written =
      /: waiting: 1 picture may still be written, and is sent once it is complete; "albumd why FILE" says/
    expect(does({ mirrors: [unfinished] })).toMatch(written)
    // The picture waits for its writer and for a command.
    expect(does({ running: false, mirrors: [unfinished] })).toMatch(
      /: waiting for "albumd sync" or "albumd run": 1 picture may still be written, and is sent once/,
    )
    expect(does({})).toMatch(/: waiting; "albumd why FILE" says for what$/)
    expect(does({ mirrors: [{ ...waiting, state: 'paused' }] })).toMatch(/: paused$/)
    expect(does({ mirrors: [mirrorInSync(2)] })).toMatch(/: idle$/)
  })

  it('tells a program too what the pictures of an idle mirror wait for', () => {
    const waiting = { ...mirrorInSync(2), pending_uploads: 1 }
    const told = tellingWaits({ ...STATUS, running: true, mirrors: [waiting, mirrorInSync(2)] }, 0)
    expect(told.mirrors).toMatchObject([
      { state: 'idle', reason: 'waiting; "albumd why FILE" says for what' },
      { state: 'idle', reason: null },
    ])
  })

  it('does not say that albumd does not run where one with another state_dir does', () => {
    const waits_for = { code: 'LOCKED', message: 'The albumd that runs (pid 7) mirrors /p' }
    expect(lines({ waits_for })[0]).toBe('no albumd runs with this state_dir')
    expect(lines({})[0]).toBe('albumd is not running')
  })

  it('tells apart that no audit has ended and what the last one found', () => {
    const audit = (changes: Partial<Status['audit']>) =>
      lines({ audit: { ...STATUS.audit, ...changes } }).find(line => line.startsWith('audit '))
    const last = new Date(2026, 10, 25, 22).toISOString()
    expect(audit({ findings: 2, last })).toMatch(
      /^audit {3}2 findings of the audit that ended at 2026-11-25 22:00:00 .*; "albumd audit" names them$/,
    )
    // The state was put back since the audit.
    expect(audit({ findings: 1 })).toBe('audit   1 finding; "albumd audit" names it')
    const kinds = { ...STATUS.audit.kinds, foreign: 2 }
    expect(lines({ audit: { ...STATUS.audit, last, findings: 2, kinds } }).join('\n')).toMatch(
      /^audit {3}2 images there are in no record of albumd, and .*\n {8}no other difference at 2026-11-25 22:00:00 /m,
    )
    expect(audit({ under_way: true })).toBe('audit   one is under way; no audit has ended yet')
  })

  it('does not call a folder empty that nobody has looked at', () => {
    const before = { ...mirrorInSync(0), looked_at: false }
    expect(lines({ mirrors: [before] })).toContain(
      '        not looked at yet; "albumd sync" or "albumd run" begins',
    )
    expect(lines({ mirrors: [before], running: true })).toContain('        not looked at yet')
    expect(lines({ mirrors: [mirrorInSync(0)] })).toContain('        0 of 0 pictures on the host')
  })

  it('says what becomes of deletions in their grace, and foretells that too many are held', () => {
    const mirror = { ...mirrorInSync(4), pending_deletions: 2 }
    const told = (will_be_held: boolean) => lines({ mirrors: [{ ...mirror, will_be_held }] }).join('\n')
    expect(told(false)).toContain('"albumd deletions list" says when each is deleted')
    expect(told(false)).toContain('--at TIME" brings them back')
    const other = { ...mirrorInSync(4), folder: '/other', state: 'guarded' as const }
    const beside = lines({ mirrors: [{ ...mirrorInSync(4), pending_deletions: 2 }, other] }).join('\n')
    expect(beside).toContain(
      'nothing is deleted while /other is guarded. "albumd restore /p --at TIME" brings back what was here\n',
    )
    const inDoubt = { ...mirror, state: 'guarded' as const, will_be_held: false }
    const guarded = (folders_in_doubt: number) =>
      lines({ mirrors: [{ ...inDoubt, folders_in_doubt, failed: folders_in_doubt }] }).join('\n')
    expect(guarded(0)).toContain('"albumd restore OTHER_FOLDER --at TIME" brings back')
    expect(guarded(0)).not.toContain('in place')
    expect(guarded(1)).toContain('; "albumd restore /p --at TIME" does it in place, while /p and')
    expect(beside).not.toContain('says when each is deleted')
    expect(told(true)).toContain('So many deletions will be held, and wait until you decide')
    expect(told(true)).toContain('albumd restore /p --at TIME')
    const heldInDoubt = { ...inDoubt, will_be_held: true, folders_in_doubt: 1, failed: 1 }
    expect(lines({ mirrors: [heldInDoubt] }).join('\n')).toContain(
      '; "albumd restore /p --at TIME" does it in place',
    )
    expect(lines({}).join()).not.toContain('albumd restore /p')
  })

  it('says once why a folder is in doubt', () => {
    const message = "Folder can't be read (EACCES). Let albumd read it"
    const told = (others: number) => {
      const folders_in_doubt = 1 + others
      const failures = ['a', 'b'].map(path => ({
        ...{ mirror: '/p', path, message, code: 'FOLDER_UNREADABLE', attempts: 1, next_attempt_at: null },
        ...{ ...FAILED, in_doubt: true },
      }))
      const guarded = { ...mirrorInSync(4), state: 'guarded' as const, reason: 'r', doubt: '/p/a' }
      const mirror = { ...guarded, folders_in_doubt }
      return lines({ mirrors: [mirror], failures: failures.slice(0, 1 + others) }).join('\n')
    }
    expect(told(0)).not.toContain('doubt   ')
    expect(told(1)).not.toContain('doubt   a')
    expect(told(1)).toContain(`doubt   b: ${message} (FOLDER_UNREADABLE)`)
  })

  it('does not call failed what may have arrived', () => {
    const failure = { mirror: '/p', message: 'm', attempts: 1, next_attempt_at: null, ...FAILED }
    const failures = [
      { ...failure, path: 'a.png', code: 'UNCERTAIN' },
      { ...failure, path: 'b.png', code: 'NOT_A_PICTURE' },
    ]
    expect(lines({ failures })).toEqual(
      expect.arrayContaining([
        'unsure  a.png: m (UNCERTAIN; "albumd sync" looks for it again)',
        'failed  b.png: m (NOT_A_PICTURE)',
      ]),
    )
  })

  it('says when it is known at the latest what became of an upload, while that is to come', () => {
    const unsure = (next_attempt_at: string | null, running = true) => {
      const failure = { mirror: '/p', path: 'a.png', code: 'UNCERTAIN', message: 'm', attempts: 1 }
      const told = lines({ running, failures: [{ ...failure, next_attempt_at, ...FAILED }] })
      return told.find(line => line.startsWith('unsure'))
    }
    const soon = new Date(Date.now() + 600_000).toISOString()
    expect(unsure(soon)).toBe(
      `unsure  a.png: m (UNCERTAIN; looked for again, at ${localTime(soon)} at the latest)`,
    )
    expect(unsure(soon, false)).toBe(
      `unsure  a.png: m (UNCERTAIN; "albumd sync" looks for it again, and knows after ${localTime(soon)} whether it arrived)`,
    )
    const over = 'unsure  a.png: m (UNCERTAIN; looked for again)'
    expect(unsure('2026-01-01T00:00:00.000Z')).toBe(over)
    expect(unsure(null)).toBe(over)
  })

  it('says what to do where the host refuses the key', () => {
    const since = '2026-01-01T01:00:00.000Z'
    const block = {
      code: 'INVALID_API_KEY',
      message: 'no',
      since,
      said_at: since,
      next_try_at: null,
      needs_person: true,
    }
    const blocks = ['list', 'upload'].map(endpoint => ({ ...block, endpoint }))
    const told = lines({ blocks })
    const at = told.findIndex(line =>
      line.startsWith('host    the host refuses the key: no (INVALID_API_KEY'),
    )
    expect(told[at + 1]).toBe(
      '        check host.api_key_file, $ALBUMD_API_KEY or the systemd credential "api-key"',
    )
    expect(told.filter(line => line.includes('check host.api_key_file'))).toHaveLength(1)
    const other = lines({ blocks: [{ ...block, endpoint: 'list', code: 'OTHER_ACCOUNT' }] }).join('\n')
    expect(other).toContain('host    albumd refuses the key: no (OTHER_ACCOUNT')
    expect(other).not.toContain('check host.api_key_file')
  })

  it('says once what keeps each of several mirrors from its work', () => {
    const waits = { state: 'blocked', reason: 'the state is lost', needs_person: true } as const
    const mirrors = ['/a', '/b'].map(folder => ({ ...mirrorInSync(1), folder, ...waits }))
    expect(lines({ mirrors }).filter(line => line.includes('the state is lost'))).toHaveLength(1)
  })

  it('says once what the host said of several endpoints, since when, and when last', () => {
    const [first, second, last] = [1, 2, 3].map(hour => `2026-01-01T0${hour}:00:00.000Z`) as [
      string,
      string,
      string,
    ]
    const block = { code: 'HOST_UNREACHABLE', message: 'away', next_try_at: null, needs_person: false }
    const blocks = [
      { ...block, endpoint: 'list', since: second, said_at: last },
      { ...block, endpoint: 'upload', since: first, said_at: second },
      {
        code: 'OTHER',
        message: 'no',
        endpoint: 'delete',
        since: first,
        said_at: first,
        next_try_at: null,
        needs_person: true,
      },
    ]
    expect(lines({ blocks }).filter(line => /^host/.test(line))).toEqual([
      `host    the host is away: away (HOST_UNREACHABLE; since ${localTime(first)}, said again at ${localTime(last)})`,
      `host    the host refuses deletions: no (OTHER; since ${localTime(first)})`,
    ])
    // While no albumd runs, nothing tries again by itself, and a command must not be refused.
    const next = (changes: Partial<Status>) => lines(changes).filter(line => /^next/.test(line))
    expect(next({ blocks })).toEqual(['next    albumd does not run; to go on: albumd sync'])
    for (const changes of [{ running: true }, { paused: { until: null } }, { blocks: blocks.slice(2) }])
      expect(next({ blocks, ...changes })).toEqual([])
  })
})

describe('the quota', () => {
  const QUOTA = { ...STATUS.quota, plan: 'professional', limit: 5000, used: 812, reserve: 500 } as const
  const words = (changes: Partial<Status['quota']>, waits: Partial<Status['backlog']> = {}) =>
    quotaInWords({
      blocks: [],
      quota: { ...QUOTA, ...changes },
      backlog: { ...STATUS.backlog, per_day: 4500, ...waits },
    })

  it('says what is used', () => {
    expect(words({})).toEqual(['quota   812 of 5,000 today (professional)'])
  })

  it('says when a quota that is used up comes back, or when the host is asked again', () => {
    const sooner =
      '        uploads go on at once with "albumd retry" without a path, if the host allows more by now'
    const used = { used: 5000, exhausted: true, next_probe_at: '2026-11-21T16:15:00.000Z' }
    expect(words(used)).toEqual([
      `quota   5,000 of 5,000 today (professional), used up; the host is asked again at ${localTime(used.next_probe_at)}`,
      sooner,
    ])
    expect(words({ ...used, resumes_at: '2026-11-21T16:00:03.000Z' })).toEqual([
      `quota   5,000 of 5,000 today (professional), used up until ${localTime('2026-11-21T16:00:03.000Z')}`,
      sooner,
    ])
  })

  it('says how long a backlog takes, and what is kept from it', () => {
    const next_day_at = '2026-11-21T16:00:00.000Z'
    const after = `after ${localTime(next_day_at)}`
    const kept = { used: 4500, only_reserve_left: true }
    expect(words(kept, { pictures: 12_345, days: 3, next_day_at })).toEqual([
      'quota   4,500 of 5,000 today (professional), the rest is kept for new pictures',
      `backlog 12,345 pictures: ${after} at 4,500 a day (quota.reserve keeps 500 for new ones)`,
    ])
    const waits = { pictures: 5056, today: 5000, today_seconds: 500, days: 1 }
    expect(words({ used: 0 }, { ...waits, next_day_at })[1]).toBe(
      `backlog 5,056 pictures: 5,000 today in about 8 min of sending, the rest ${after}`,
    )
    expect(words({ used: 0 }, waits)[1]).toContain("the rest once the host's next day begins")
    expect(words({}, { pictures: 40, today: 40, today_seconds: 4 })).toHaveLength(1)
  })
})

it('status tells when a running daemon tries again, how fast it sends, and that notify.on_upload fails', () => {
  const at = '2026-11-25T05:11:30.000Z'
  const clock = new Date(at).toTimeString().slice(0, 5)
  const said = statusInWords(
    {
      ...STATUS,
      running: true,
      backlog: { ...STATUS.backlog, pictures: 2568, today: 2568, today_seconds: 4 },
      blocks: [
        {
          code: 'HOST_UNREACHABLE',
          endpoint: 'upload',
          message: 'Cannot reach images.example.com:443 (connection refused)',
          since: at,
          said_at: at,
          next_try_at: at,
          needs_person: false,
        },
      ],
      upload_command_failed: 'it ended with 1',
    },
    CONFIG,
    'albumd.yaml',
    {
      pid: 7,
      config: null,
      mirrors: [],
      problem: null,
      page: { url: null, why: 'status_page.listen: 127.0.0.1:8687 is taken by another program' },
      uploading: [],
      rate: { bytes: 2048, pictures: 9.84 },
      answered: [],
    },
  )
  expect(said).toContain(`Cannot reach images.example.com:443 (connection refused); next try ${clock} (`)
  expect(said).toContain('rate    2 KB/s, 9.8 pictures a second; 2,568 left')
  expect(said).toContain('backlog 2,568 pictures: about 4 min of sending')
  expect(said).toMatch(/^notify {2}.*it ended with 1/m)
  expect(said).toContain('is taken by another program')
})
