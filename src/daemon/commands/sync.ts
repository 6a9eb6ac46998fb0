import type { Config } from '../../config/schema.ts'
import { madeLessThan } from '../../local/sent-picture.ts'
import { systemClock } from '../../protocol/clock.ts'
import { ENDPOINTS, type Endpoint } from '../../protocol/endpoints.ts'
import { hurried } from '../../records/escrow.ts'
import { askedAnew, resent, retried } from '../../records/pictures.ts'
import { locationOf } from '../../records/versions.ts'
import type { HostFailure } from '../../remote/host.ts'
import { confirmedPattern } from '../../sync/listing/index.ts'
import { recordStates } from '../../sync/pass.ts'
import type { Scope } from '../../sync/pass-request.ts'
import { folderAbove, foldersAbove, fullPath, isAtOrBelow, isBelow, nameOf } from '../../sync/tree-path.ts'
import { forgetRefusals, type Verified, verifyLinks } from '../../sync/uploads/index.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { because, inWords } from '../../words/reasons.ts'
import type { PassOptions } from '../engine/engine.ts'
import type { MirrorStatus } from '../report/mirror-status.ts'
import { type LeftOf, statusOf, type Verdict, verdictOn } from '../report/status.ts'
import { type Pause, pauseAt } from '../state/pause.ts'
import { type Command, type CommandContext, isMeant, NotPossible, refuseSeveral } from './command.ts'

export interface PassResult {
  verdict: Verdict
  stopped: HostFailure[]
  mirrors: MirrorStatus[]
  /** What is left of what the command was asked to do: in each mirror, or at each path that a person named. */
  left: readonly LeftOf[]
  /** The pause because of which nothing was sent or deleted. Null: albumd is not paused. */
  paused: Pause | null
  /** When uploads go on after a used-up quota, or when the host is asked again: ISO 8601. Null: nothing waits for quota. */
  uploads_go_on: string | null
}

/** `paths`: absolute; only what is at and below them is scanned, sent and deleted. Left out: everything is. */
interface SyncRequest {
  pruneIgnored: boolean
  paths?: string[] | undefined
}

export const syncCommand: Command<SyncRequest, PassResult> = {
  request: z =>
    z.strictObject({
      pruneIgnored: z.boolean(),
      paths: z.array(z.string()).optional(),
    }),
  needsHost: true,
  carryOut: (context, { pruneIgnored, paths }) => passAt(context, { pruneIgnored, task: 'mirror' }, paths),
}

export const putCommand: Command<{ paths: string[] }, PassResult> = {
  request: z => z.strictObject({ paths: z.array(z.string()) }),
  needsHost: true,
  carryOut: (context, { paths }) => passAt(context, { task: 'put' }, paths),
}

function passAt(context: CommandContext, options: PassOptions, paths?: string[]): Promise<PassResult> {
  const scope = paths && scopeOf(context, paths)
  const named = paths && new Set(paths)
  const work = async () => (await context.pass({ ...options, scope, named })).stopped
  return passResult(context, work, paths)
}

/** What is scanned in each mirror when a person names these paths. Throws NotPossible. */
function scopeOf({ config, synced }: CommandContext, paths: readonly string[]): Map<string, Scope> {
  const scopes = new Map<string, Scope>()
  for (const path of paths) {
    const mirror = config.mirrors.find(({ folder }) => isAtOrBelow(path, folder))
    if (!mirror) throw new NotPossible(inWords(because('in_no_mirror', { path, mirrors: config.mirrors })))
    const before = scopes.get(mirror.folder) ?? []
    const folders = foldersToScan(synced, mirror.folder, path.slice(mirror.folder.length + 1))
    scopes.set(
      mirror.folder,
      before === 'everything' || folders === 'everything' ? 'everything' : [...before, ...folders],
    )
  }
  return scopes
}

/** The folders whose scan shows what happened at this path. The parent is among them, since only it shows that a folder is gone.
 * Of a path without a record it is the closest recorded folder above. */
function foldersToScan({ mirrors, folders }: Synced, mirror: string, path: string): Scope {
  const row = mirrors.of(mirror)
  if (path === '' || !row) return 'everything'
  const isRecorded = (at: string) => folders.at(row.id, at) !== undefined
  const below = isRecorded(path) ? folders.from({ mirror: row.id, path }).map(folder => folder.path) : []
  return [[...foldersAbove(path)].findLast(isRecorded) ?? '', ...below]
}

/** The result of `verify`. `why`: why the first of the `unknown` pictures could not be compared, in words. */
export type VerifiedInWords = Omit<Verified, 'why'> & { why: string | null }

interface AdoptResult extends PassResult {
  /** Null: nothing was compared. */
  verified: VerifiedInWords | null
  addressesKnown: boolean
}

export const adoptCommand: Command<{ verify: boolean }, AdoptResult> = {
  request: z => z.strictObject({ verify: z.boolean() }),
  needsHost: true,
  async carryOut(context, { verify }) {
    const { config, synced, interruption } = context
    const engine = context.engine()
    let verified: VerifiedInWords | null = null
    // Between two comparisons other work may be done, because all pictures may be linked, and comparing them takes long.
    const giveWay = async () => {
      if (context.othersWait()) await context.giveWay()
    }
    const result = await passResult(context, async () => {
      // The failures are forgotten, because an upload that failed as ambiguous may have one clear image by now.
      await forgetFailures(config, synced)
      const { stopped } = await engine.adopt(interruption)
      if (verify) {
        const { why, ...counts } = await verifyLinks(engine.context, interruption.cut, giveWay)
        verified = { ...counts, why: why && inWords(why) }
      }
      return stopped
    })
    const addressesKnown = synced.meta.get('cdn_base') !== null || confirmedPattern(synced) !== null
    return { ...result, verified, addressesKnown }
  },
}

/** `path` and `resend`: absolute, or below a mirror's folder. With `path`, only what is there is scanned, sent and deleted. */
interface RetryRequest {
  path?: string | undefined
  resend?: string | undefined
  /** Whether images that have metadata which are taken out now are sent anew. */
  strip?: boolean | undefined
}

export const retryCommand: Command<RetryRequest, PassResult> = {
  request: z =>
    z.strictObject({
      path: z.string().optional(),
      resend: z.string().optional(),
      strip: z.boolean().optional(),
    }),
  needsHost: true,
  // A request of the pass under way may sleep, so it is woken at once: the command's turn comes only after that pass.
  given: ({ context: { host } }) => host.askNow(),
  async carryOut(context, { path, resend, strip }) {
    const { config, synced } = context
    if (strip && config.uploads.strip === 'none')
      throw new NotPossible('No metadata are taken out. Set uploads.strip to location or all first')
    const whole = strip ? withMetadata(config, synced, path) : []
    const failed =
      path === undefined
        ? []
        : [...failedAt(config, synced, path), ...whole.map(file => locationOf(synced, file))]
    if (path !== undefined && failed.length === 0)
      throw new NotPossible(
        `Nothing failed at or below ${path}. "albumd why" says what a picture waits for, and "albumd retry" without a path asks the host at once`,
      )
    const inDoubt = resend === undefined ? [] : inDoubtAt(config, synced, resend)
    const folderOf = ({ mirror }: { mirror: number }) => synced.mirrors.byId(mirror)!.folder
    const folders = failed.map(folderOf)
    const foldersInDoubt = inDoubt.map(file => folderOf(synced.folders.byId(file.folder)!))
    refuseSeveral(path, folders)
    refuseSeveral(resend, foldersInDoubt)
    const named = [
      wholePath(folders, path),
      path === undefined ? [] : wholePath(foldersInDoubt, resend),
    ].flat()
    const paths = path === undefined ? undefined : named
    const work = async () => {
      const { host } = context.engine().context
      host.askNow()
      if (path !== undefined || resend === undefined) {
        await forgetFailures(config, synced, path)
        for (const { endpoint } of host.blocks()) host.unblock(endpoint)
      }
      if (resend !== undefined && (await resendInDoubt(config, synced, resend, systemClock.wall())) === 0)
        throw new NotPossible(
          `No picture at or below ${resend} is uncertain. "albumd status" lists those that are`,
        )
      await synced.commit(tx => askedAnew(tx, whole, systemClock.wall()))
      const options = paths && { scope: scopeOf(context, paths), named: new Set(paths) }
      return (await context.pass({ ...options, task: 'retry' })).stopped
    }
    return passResult(context, work, paths)
  },
}

function wholePath([folder]: readonly string[], path: string | undefined): string[] {
  if (folder === undefined || path === undefined) return []
  return [path.startsWith('/') ? path : fullPath(folder, path)]
}

/** Forgets the failures at and below `path`, and makes the host be asked about the quota again. `path`: absolute, or below a
 * mirror's folder. Undefined: all failures. Blocks stay recorded until they end, because `status` shows when they began. */
export function forgetFailures(config: Mirrors, synced: Synced, path?: string): Promise<void> {
  const failed = filesAt(config, synced, synced.files.inState('failed'), path)
  return synced.commit(tx => {
    retried(tx, failed)
    for (const { folder, name } of failed) tx.failures.clear(folder, name)
    tx.meta.set('quota_asked', true)
    forgetRefusals(tx)
  })
}

/** The files at and below `path` whose images have metadata that are taken out now. */
export function withMetadata(config: Config, synced: Synced, path?: string): FileRow[] {
  const { strip } = config.uploads
  if (strip === 'none') return []
  return filesAt(config, synced, synced.files.madeLess(madeLessThan(strip)), path)
}

function failedAt(config: Config, synced: Synced, path: string): { mirror: number }[] {
  const all = [...synced.summaries.failures(Number.MAX_SAFE_INTEGER), ...synced.escrow.postponed()]
  return all.filter(isAt(config, synced, path))
}

type Mirrors = { mirrors: readonly Pick<Config['mirrors'][number], 'folder'>[] }

export async function resendInDoubt(
  config: Mirrors,
  synced: Synced,
  path: string,
  now: number,
): Promise<number> {
  const files = inDoubtAt(config, synced, path)
  await synced.commit(tx => resent(tx, files, now))
  return files.length
}

function inDoubtAt(config: Mirrors, synced: Synced, path: string): FileRow[] {
  const files = [...synced.files.inState('uncertain'), ...synced.files.inState('failed')]
  return filesAt(config, synced, files, path).filter(
    file => file.state === 'uncertain' || DOUBTFUL.has(synced.failures.ofUpload(file)?.code ?? ''),
  )
}

/** Failures of uploads that may have arrived. They end when a person has the upload sent again. */
const DOUBTFUL: ReadonlySet<string> = new Set(['AMBIGUOUS', 'STATE_RESTORED'])

function filesAt(config: Mirrors, synced: Synced, files: readonly FileRow[], path?: string): FileRow[] {
  const isIn = isAt(config, synced, path)
  return files.filter(file => isIn(locationOf(synced, file)))
}

/** Returns a function that says whether a location is at or below `path`. `path`: as of `forgetFailures`. */
export function isAt({ mirrors }: Mirrors, synced: Synced, path: string | undefined) {
  const folders = new Map(mirrors.map(({ folder }) => [synced.mirrors.of(folder)?.id, folder]))
  return (location: { mirror: number; path: string }) => {
    const folder = folders.get(location.mirror)
    return folder !== undefined && isMeant(folder, location.path, path)
  }
}

/** Does `work`, unless albumd is paused. `work` returns the failures that ended it. Blocked endpoints are tried again, because a
 * person asked. A used-up quota is not: albumd asks about it itself when it may be back. */
export async function passResult(
  context: CommandContext,
  work: () => Promise<HostFailure[]>,
  paths?: readonly string[],
): Promise<PassResult> {
  const { config, synced } = context
  const isPaused = pauseAt(synced, systemClock.wall()) !== null
  const stopped = isPaused ? [] : await whatStopped(context, work, paths)
  const now = systemClock.wall()
  const status = statusOf(config, synced, true, now)
  const left = paths ? leftAt(synced, status.mirrors, paths) : status.mirrors
  const verdict = isPaused ? 'left' : verdictOn({ mirrors: left }, stopped)
  const { resumes_at, next_probe_at } = status.quota
  return {
    verdict,
    stopped,
    mirrors: status.mirrors,
    left,
    paused: pauseAt(synced, now),
    uploads_go_on: resumes_at ?? next_probe_at,
  }
}

/** What is left at each path. A path below another of the paths is counted with that one. */
function leftAt(synced: Synced, mirrors: readonly MirrorStatus[], paths: readonly string[]): LeftOf[] {
  const outermost = new Set(paths.filter(path => !paths.some(other => isBelow(path, other))))
  return [...outermost].map(full => {
    const { folder, state, needs_person } = mirrors.find(({ folder }) => isAtOrBelow(full, folder))!
    const path = full.slice(folder.length + 1)
    const mirror = synced.mirrors.of(folder)?.id ?? 0
    const place = { mirror, path, above: folderAbove(path), name: nameOf(path) }
    return { folder, state, needs_person, ...synced.summaries.leftAt(place) }
  })
}

async function whatStopped(
  { engine, interruption }: CommandContext,
  work: () => Promise<HostFailure[]>,
  paths: readonly string[] | undefined,
): Promise<HostFailure[]> {
  const { context } = engine()
  const { host, synced, running } = context
  const blocks = host.blocks()
  const isUsedUp = (endpoint: Endpoint) =>
    blocks.some(block => block.endpoint === endpoint && block.remedy === 'quota')
  for (const endpoint of ENDPOINTS) if (!isUsedUp(endpoint)) host.unblock(endpoint)
  if (synced.escrow.postponed().length > 0) await synced.commit(tx => hurried(tx, running()))
  // Without a request, a pass with nothing to send does not notice that a block has ended, nor whether a first key is right. So
  // it asks for a listing.
  const isOpen = synced.account.blocks().length > 0 || synced.meta.get('key_mark') === null
  const ended = await work()
  const asked = (isOpen || ended.length > 0) && !paths ? await host.list(null, 1, interruption.cut) : null
  const refusals = [...(asked === null || asked.ok ? [] : [asked.failure]), ...ended]
  const stopped = [
    ...new Map(refusals.map(failure => [`${failure.code} ${failure.endpoint}`, failure])).values(),
  ]
  // The pass may have recorded what the host refuses before the listing was answered.
  if (stopped.length > 0 || synced.account.blocks().length > 0)
    await synced.commit(tx => recordStates(tx, context, stopped))
  return stopped
}
