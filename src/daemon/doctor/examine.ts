import { closeSync, openSync, statSync } from 'node:fs'
import { ConfigError } from '../../config/config-error.ts'
import {
  keyFileOf,
  keyRemedy,
  readApiKey,
  readAuthorities,
  readStoreAccess,
  type StoreAccess,
} from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { readMounts } from '../../local/mount-table.ts'
import { madeLessThan } from '../../local/sent-picture.ts'
import { systemClock } from '../../protocol/clock.ts'
import { stateIsLocked } from '../../synced/lock.ts'
import { StateError } from '../../synced/state-error.ts'
import { count, shellWord } from '../../words/text.ts'
import { withMetadata } from '../commands/sync.ts'
import { openHostToAsk } from '../engine/remote.ts'
import { BY_ITSELF, checksOf } from '../notify/health.ts'
import { orNull } from '../or-null.ts'
import { type DaemonTold, readStatus, type Status } from '../report/status.ts'
import { stateFiles } from '../state/claim.ts'
import { earlierRequests } from '../state/last-process.ts'
import { readState } from '../state/state.ts'
import { refuseClosed } from '../state/state-problem.ts'
import { askingOnce, checkAccount, checkEndpoints, judgeDaemon } from './endpoints.ts'
import { type Check, type Finding, fail, pass, warn } from './finding.ts'
import { checkMounts, checkTrees, checkWatches, watchLimit } from './folders.ts'
import { checkReach } from './host.ts'
import { checkDatabase, checkDiskSpace, checkIntake, checkStateFolder } from './state.ts'

interface PageTold extends DaemonTold {
  page: { why: string | null }
  picgo_server: { why: string | null } | null
}

/** Checks everything that albumd needs, and changes nothing. While a daemon runs, the host is not asked, because both share the
 * rate (§8). Instead `askDaemon` returns what the host told the daemon, or null when the daemon does not answer. `file`: the
 * config's file. */
export async function* examine(
  file: string,
  config: Config,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  askDaemon: () => Promise<PageTold | null>,
): AsyncGenerator<Finding> {
  const isRunning = whetherRuns(config)
  const database = checkDatabase(config)
  const readable = database.status !== 'fail'
  const told = isRunning ? await askDaemon() : undefined
  const status = readable ? readStatus(config, systemClock.wall(), told) : null
  // Nobody knows what these folders hold, nor on which disk they are. A finding below says why.
  const guarded = (status?.mirrors ?? [])
    .filter(({ state, needs_person }) => state === 'guarded' && needs_person)
    .map(({ folder }) => folder)
  const { findings, folders, lost } = await checkTrees(config, signal, guarded)
  yield* findings
  yield* checkMounts(config, readMounts())
  if (!status?.watching?.lost) yield checkWatches(config, folders, watchLimit())
  yield* checkStateFolder(config)
  yield database
  yield checkDiskSpace(config)
  yield* checkIntake(config)
  if (isRunning === null)
    yield warn(
      'daemon',
      "This user can't tell whether an albumd runs with this state",
      'Run the doctor as the user that albumd runs as',
    )
  else if (isRunning) yield pass('daemon', `albumd runs with this state (pid ${status?.pid ?? 'not known'})`)
  else if (status?.waits_for) yield fail('daemon', status.waits_for.message)
  else yield pass('daemon', 'no albumd runs with this state')
  if (status) yield* checkStatus(status, config, file, lost)
  if (status) yield* checkDelivery(status)
  if (readable) yield* checkMetadata(config)
  const { uploads, mirrors } = config
  yield* checkHeic(
    uploads.convert.length > 0,
    mirrors.some(({ converts }) => converts),
  )
  if (told?.page.why) yield warn('page', told.page.why, 'Until then albumd works without its status page')
  if (told?.picgo_server?.why)
    yield warn('picgo_server', told.picgo_server.why, 'Until then editors do not reach albumd')
  const access = findAccess(config, env)
  yield* checkHost(config, access, isRunning === true, status, env, signal)
}

/** Whether an albumd runs with this state. Null: this user can't tell, because the state belongs to another user. */
function whetherRuns({ state_dir }: Config): boolean | null {
  try {
    refuseClosed(state_dir)
    return stateIsLocked(stateFiles(state_dir).lock)
  } catch (error) {
    if (error instanceof StateError && error.code === 'STATE_UNREADABLE') return null
    throw error
  }
}

/** The check for each row of the table of checks, but for the host's refusals: the doctor asks each endpoint about those. */
const ABOUT: Readonly<Record<string, Check>> = {
  GUARDED: 'folder',
  HELD: 'folder',
  MANY: 'folder',
  FAILED: 'folder',
  GONE_ON_HOST: 'folder',
  TOO_OLD: 'folder',
  WATCH_LOST: 'watching',
  USED_UP_EARLY: 'quota',
  UPLOAD_COMMAND: 'on_upload',
  TROUBLE_COMMAND: 'on_trouble',
  HEARTBEAT: 'heartbeat',
  STORE_AWAY: 'store',
  LOSS: 'state',
}

/** What the host does to pictures between upload and delivery. */
function* checkDelivery({ delivery }: Status): Generator<Finding> {
  for (const [format, how] of Object.entries(delivery)) {
    const said = `the host delivers ${format.toUpperCase()} ${how}`
    if (how !== 'encoded anew') yield pass('host', said)
    else yield warn('host', said, 'Keep these pictures elsewhere too: no restore brings the originals back')
  }
}

/** Whether images still have metadata that are taken out now, because they were sent before. */
function* checkMetadata(config: Config): Generator<Finding> {
  const { strip } = config.uploads
  if (strip === 'none') return
  const { used, images } = readState(config, synced => ({
    used: withMetadata(config, synced).length,
    images: synced.images.countMadeLess(madeLessThan(strip)),
  }))
  if (images === 0) yield pass('metadata', 'no image is known to have metadata that are taken out now')
  else
    yield warn(
      'metadata',
      `${count(images, 'image')} on the host may have metadata that are taken out now${used > 0 ? '' : '; such images are kept, or wait for their deletion'}`,
      used > 0 ? '"albumd retry --strip" sends the pictures anew, within the quota' : null,
    )
}

/** Whether HEICs are sent as the config says. */
export function* checkHeic(isAsked: boolean, converts: boolean): Generator<Finding> {
  if (isAsked && converts) yield pass('heic', 'HEICs are sent as JPEG')
  if (isAsked && !converts)
    yield warn(
      'heic',
      'HEICs are left out, because the package libheif-js is not installed',
      '"npm install --global libheif-js", and start albumd again',
    )
}

/** Findings from what `status` says. `lost`: the mirrors' folders that another finding is about. */
function* checkStatus(
  status: Status,
  config: Config,
  file: string,
  lost: readonly string[],
): Generator<Finding> {
  const { mirrors, blocks, running, waits_for } = status
  const refusals = new Set(blocks.map(({ code }) => code))
  for (const { code, look, remedy, folder } of checksOf(status, config, systemClock.wall(), file)) {
    const isSaid = refusals.has(code) || (code === 'GUARDED' && lost.includes(folder!))
    if (!isSaid) yield { ...(code === 'GUARDED' ? fail : warn)(ABOUT[code] ?? 'daemon', look, remedy), code }
  }
  if (!running) return
  if (waits_for?.code === 'STORE_NEW') return yield warn('daemon', waits_for.message, BY_ITSELF)
  for (const { folder, state, reason, needs_person } of mirrors)
    if (state === 'blocked') {
      const said = `${folder} waits: ${reason}`
      yield needs_person ? fail('daemon', said) : warn('daemon', said, BY_ITSELF)
    }
}

async function* checkHost(
  config: Config,
  { key, ca, store, findings }: Access,
  isRunning: boolean,
  status: Status | null,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  yield* findings
  // Without the authorities that the config names, no albumd can work, so the host is not asked.
  if (ca === undefined) return
  const reach = await checkReach(config.host.base_url, ca, config.host.timeout, signal)
  // When a person interrupted the check, its result says nothing about the host.
  if (signal.aborted) return
  yield* reach
  if (reach.some(({ check, status }) => check !== 'clock' && status === 'fail')) return
  if (isRunning)
    return yield* judgeDaemon(status?.blocks ?? [], keyRemedy(config, null), status?.quota.exhausted)
  // Without the store nobody knows how much of the rate is left, so the doctor asks nothing. A finding says why the store fails.
  if (key === null || store === undefined) return
  const now = systemClock.monotonic()
  // The requests of an earlier albumd count for the rate. Without records they are taken as sent just now.
  const earlier = status === null ? now : readState(config, synced => earlierRequests(synced, now))
  const access = { apiKey: key, ca, store }
  const host = await openHostToAsk(config, access, earlier, askingOnce(config.host.timeout))
  try {
    let isRefused = false
    for await (const finding of checkEndpoints(host, signal, keyRemedy(config, env))) {
      isRefused ||= finding.check === 'key' && finding.status === 'fail'
      yield finding
    }
    if (isRefused || signal.aborted || status === null) return
    const account = await checkAccount(config, key, host, signal)
    if (account) yield account
  } finally {
    await host.close()
  }
}

interface Access {
  key: string | null
  /** The host's certificate authorities as PEM. Null: Node's own. Undefined: `host.ca_file` can't be read. */
  ca: string | null | undefined
  /** The store that machines share. Null: the config names none. Undefined: its password or certificates can't be read. */
  store: StoreAccess | null | undefined
  findings: Finding[]
}

function findAccess(config: Config, env: NodeJS.ProcessEnv): Access {
  const findings: Finding[] = []
  const read = <T>(check: 'key' | 'tls' | 'store', work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const { key, message } of error.problems) {
        const wrong = fail(check, `${key}: ${message}`, 'Correct it, then run the doctor again')
        findings.push({ ...wrong, code: 'CONFIG' })
      }
      return undefined
    }
  }
  const found = read('key', () => findKey(config, env))
  findings.push(...(found?.findings ?? []))
  const ca = read('tls', () => readAuthorities(config))
  const store = read('store', () => readStoreAccess(config, env))
  if (store?.warning) findings.push(warn('store', store.warning.message, store.warning.remedy))
  return { key: found?.key ?? null, ca, store, findings }
}

export function checkConfigFile(file: string): Finding {
  if (process.platform === 'win32') return pass('config', file)
  if ((statSync(file).mode & 0o022) === 0) return pass('config', `${file}: no mistakes`)
  return warn(
    'config',
    `${file}: other users can change it, and with it what albumd runs and deletes`,
    `chmod go-w ${shellWord(file)}`,
  )
}

/** The API key as albumd finds it. Null: systemd hands it to the service. Throws ConfigError. */
export function findKey(config: Config, env: NodeJS.ProcessEnv): { key: string | null; findings: Finding[] } {
  const found = keyFileOf(config, env)
  // The file is opened, because access(2) checks the real user's rights, and sudo may have changed only the effective user.
  if (found?.kind === 'beside' && orNull(() => closeSync(openSync(found.file, 'r'))) === null)
    return {
      key: null,
      findings: [
        warn(
          'key',
          `${found.file} is for the service alone, as it should be, so the host was not asked with the key`,
          'Run the doctor as root, which asks the host',
        ),
      ],
    }
  const { key, warning } = readApiKey(config, env)
  return { key, findings: warning ? [warn('key', warning.message, warning.remedy)] : [] }
}
