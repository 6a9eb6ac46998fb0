import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../../../src/config/load-config.ts'
import { judgeDaemon } from '../../../src/daemon/doctor/endpoints.ts'
import { checkHeic, findKey } from '../../../src/daemon/doctor/examine.ts'
import { checkMounts, checkTrees, checkWatches, surveyFolder } from '../../../src/daemon/doctor/folders.ts'
import { checkClock } from '../../../src/daemon/doctor/host.ts'
import { needsPerson } from '../../../src/remote/failures.ts'
import { asNobody, NOBODY } from '../../nobody.ts'
import { tempFolder } from '../../temp-folder.ts'

describe('the clock', () => {
  const now = Date.parse('2026-11-22T12:00:00Z')
  const against = (date: string | undefined) =>
    checkClock({ kind: 'answer', left: 'all', status: 200, headers: { date }, body: Buffer.alloc(0) }, now)

  it.each([
    ['Sun, 22 Nov 2026 11:59:59 GMT', 'pass', "agrees with the host's to within a second"],
    ['Sun, 22 Nov 2026 12:00:30 GMT', 'pass', '30 s behind'],
    ['Sun, 22 Nov 2026 11:58:00 GMT', 'warn', '120 s ahead of'],
    ['Sun, 22 Nov 2026 13:00:00 GMT', 'fail', '3600 s behind'],
    ['yesterday', 'pass', 'does not say'],
    [undefined, 'pass', 'does not say'],
  ])('against %s: %s', (date, status, words) => {
    expect(against(date)).toMatchObject({ status, message: expect.stringContaining(words) })
  })
})

describe('the watches', () => {
  const config = { watch: { poll: undefined } } as unknown as Parameters<typeof checkWatches>[0]

  it("pass while they leave a part of the system's limit to other programs", () => {
    expect(checkWatches(config, 8000, 10_000)).toMatchObject({ status: 'pass' })
    expect(checkWatches(config, 8001, 10_000)).toMatchObject({
      status: 'warn',
      remedy: expect.stringContaining('sysctl fs.inotify.max_user_watches='),
    })
  })
})

it('a mount that may change without an event is a warning, and a state on a network file system a failure', () => {
  const config = { mirrors: [{ folder: '/srv/photos' }], state_dir: '/var/lib/albumd' }
  const root = { id: '1', path: '/', type: 'ext4' }
  const found = (path: string, type: string) => [...checkMounts(config, [root, { id: '2', path, type }])]
  expect(found('/srv', 'ext4')).toEqual([])
  expect(found('/srv', 'nfs4')).toMatchObject([{ check: 'mounts', status: 'warn' }])
  expect(found('/srv', 'fuse.mergerfs')).toMatchObject([{ check: 'mounts', status: 'warn' }])
  expect(found('/var/lib', 'fuse.mergerfs')).toEqual([])
  expect(found('/var', 'nfs4')).toMatchObject([{ check: 'mounts', status: 'fail' }])
})

it('what converts HEICs is a warning only where it is wanted and missing', () => {
  const found = (isAsked: boolean, converts: boolean) => [...checkHeic(isAsked, converts)]
  expect(found(false, false)).toEqual([])
  expect(found(true, true)).toMatchObject([{ check: 'heic', status: 'pass' }])
  expect(found(true, false)).toMatchObject([
    { status: 'warn', remedy: expect.stringContaining('npm install --global libheif-js') },
  ])
})

it('a survey counts the pictures that a scan finds: no empty, hidden or ignored files, no links, no other formats', async () => {
  const root = tempFolder()
  mkdirSync(join(root, 'a'))
  mkdirSync(join(root, '.hidden'))
  mkdirSync(join(root, 'drafts'))
  for (const name of [
    'one.png',
    'a/two.JPG',
    '.dot.png',
    '.hidden/three.png',
    'notes.txt',
    'drafts/four.png',
  ])
    writeFileSync(join(root, name), 'x')
  writeFileSync(join(root, 'empty.png'), '')
  symlinkSync('one.png', join(root, 'link.png'))
  expect(await surveyFolder({ folder: root, ignore: ['drafts/'] }, new AbortController().signal)).toEqual({
    folders: 2,
    pictures: 2,
    unreadable: { folders: 0, pictures: 0, first: null },
  })
})

it.runIf(process.getuid?.() === 0)(
  "what this user can't read is told with what helps its owner, or others",
  async () => {
    const home = tempFolder()
    const closed = join(home, 'pictures/closed')
    mkdirSync(closed, { recursive: true })
    chmodSync(home, 0o755)
    chmodSync(closed, 0o000)
    const config = parseConfig(
      `{host: {base_url: 'https://h.example/api/v1'}, mirrors: [{folder: pictures, album: ''}], state_dir: state}`,
      { file: join(home, 'albumd.yaml'), env: {} },
    )
    const remedy = async (owner: number) => {
      chownSync(closed, owner, owner)
      const { findings } = await asNobody(() => checkTrees(config, new AbortController().signal))
      return findings[0]?.remedy
    }
    const pictures = join(home, 'pictures')
    expect(await remedy(NOBODY)).toBe(`chmod -R u+rX ${pictures}`)
    expect(await remedy(1234)).toBe(
      `${closed} belongs to another user. Run albumd as that user, or have that user or root say setfacl -R -m u:${NOBODY}:rX ${pictures}`,
    )
  },
)

it('what the host told a running daemon is a failure only when a person must do something about it', () => {
  const block = (code: string) => ({
    endpoint: 'upload' as const,
    code,
    message: 'said so',
    since: '',
    said_at: '',
    next_try_at: null,
    needs_person: needsPerson(code),
  })
  const judged = (code: string) =>
    [...judgeDaemon([block(code)])].find(({ message }) => message.startsWith('upload'))
  for (const code of ['HOST_UNREACHABLE', 'HOST_ANSWER', 'DAILY_LIMIT_REACHED', 'RATE_LIMITED'])
    expect(judged(code)).toMatchObject({
      status: 'warn',
      message: `upload (to upload): said so (${code})`,
      remedy: 'Nothing to do: albumd goes on by itself',
    })
  for (const code of ['HOST_TLS', 'STORAGE_LIMIT_REACHED', 'PLAN_NOT_SUPPORTED'])
    expect(judged(code)).toMatchObject({ status: 'fail', code })
  // A quota that is used up is no block.
  const usedUp = [...judgeDaemon([], '', true)]
  expect(usedUp.map(({ status, code }) => [status, code])).toEqual([
    ['pass', undefined],
    ['warn', 'DAILY_LIMIT_REACHED'],
    ['pass', undefined],
    ['pass', undefined],
  ])
  expect(usedUp[1]!.message).toBe("upload (to upload): The host says that today's uploads are used up")
  // A refused key is no fault of an endpoint, as where the doctor asks the host itself.
  expect([...judgeDaemon([block('INVALID_API_KEY')])]).toMatchObject([
    { check: 'key', status: 'fail', message: 'The host refuses the key: said so (INVALID_API_KEY)' },
  ])
})

/** The set-up of a service in README: the config names no key, and the key's file lies beside the config. */
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
  return { file, key, find: (env = {}) => findKey(config, env) }
}

it('is the file that systemd hands to the service, where config and environment have no key', () => {
  const { key, find } = beside()
  expect(find()).toEqual({ key: 'beside', findings: [] })
  expect(find({ ALBUMD_API_KEY: 'mine' }).key).toBe('mine')
  chmodSync(key, 0o644)
  expect(find().findings).toMatchObject([{ status: 'warn', remedy: expect.stringContaining('chmod 600') }])
})

it.runIf(process.getuid?.() === 0)(
  "is root's alone: others are told that this is right, and what to do",
  async () => {
    const { key, find } = beside()
    expect(await asNobody(() => find())).toMatchObject({
      key: null,
      findings: [{ status: 'warn', message: expect.stringContaining(`${key} is for the service alone`) }],
    })
  },
)
