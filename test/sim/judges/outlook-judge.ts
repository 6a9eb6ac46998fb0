import type { Config } from '../../../src/config/schema.ts'
import { quotaStatus } from '../../../src/daemon/report/quota-status.ts'
import { restorableSince, versionAt } from '../../../src/records/versions.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import { lossEndsAt } from '../../../src/sync/clock.ts'
import { willBeHeld } from '../../../src/sync/deletions/index.ts'
import {
  contentStep,
  mirrorOutlook,
  type OutlookContext,
  outlook,
  type PathState,
} from '../../../src/sync/outlook/index.ts'
import { leftOutBelow, type MirrorLocation } from '../../../src/sync/scan/index.ts'
import type { MirrorRow } from '../../../src/synced/tables/mirrors.ts'
import { commandOf, endsByItself, inWords } from '../../../src/words/reasons.ts'
import { diskFor, Looks, openerFor } from '../disk/disk-port.ts'
import { livePictures } from '../disk/live-pictures.ts'
import { readTiny } from '../disk/tiny-picture.ts'
import { split } from '../disk/tree.ts'
import { INCOMPLETE, SETTLE_MS } from '../engine/compose.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { isOpen, openFor, zoneOf } from '../histories/setting.ts'
import { LIFETIME_MS } from '../histories/variations.ts'

/** Asks what happens next with everything that ever lay in a mirror, as `why` and `status` do. Nothing changes by that. */
export async function mustForetell(world: World): Promise<void> {
  const context = outlookContext(world)
  mustForetellQuota(world)
  for (const mirror of world.mirrors) {
    const { folder } = mirror
    const row = context.synced.mirrors.of(folder)
    if (row) mustTellOfMirror(world, context, row)
    for (const { reason } of leftOutBelow(context.disk, { mirror, path: '' })) inWords(reason)
    for (const { reason } of leftOutBelow(context.disk, { mirror, path: 'a' }, false)) inWords(reason)
    const held = [...world.disk.paths()]
    for (const full of new Set([folder, ...held, ...held.map(path => split(path).folder)])) {
      if (!`${full}/`.startsWith(`${folder}/`)) continue
      const path = full.slice(folder.length + 1)
      const state = stateAt(context, { mirror, path })
      if (state === 'pending' || state === 'unseen') await mustKnowContent(world, { mirror, path })
      if (row && full !== folder) mustBeRestorable(world, row, full, path)
    }
  }
}

function mustTellOfMirror({ history, parts }: World, context: Context, row: MirrorRow): void {
  const { summaries, account } = context.synced
  const summary = summaries.mirror(row.id)
  willBeHeld(context.synced, row.id, summary, history.hold, parts?.running() ?? 0)
  const { reason } = mirrorOutlook({ ...context, blocks: account.blocks() }, row, summary)
  if (reason) endsByItself(reason)
}

const NEVER = new AbortController().signal

/** What is to be sent is a picture, or else people are told what keeps it from being sent. */
async function mustKnowContent(world: World, location: MirrorLocation): Promise<void> {
  const { disk, machine, history, oracle } = world
  const file = disk.find(`${location.mirror.folder}/${location.path}`)?.node
  const open = openerFor(
    disk,
    machine.wall,
    async () => {},
    () => true,
    new WeakMap(),
    history.setting.endings,
  )
  const found = await contentStep({ settleMs: SETTLE_MS, incomplete: INCOMPLETE }, location, (root, path) =>
    open(root, path, NEVER),
  )
  if (found) inWords(found.why)
  else if (file?.kind !== 'file' || readTiny(file.bytes) === null)
    oracle.report('foretells', `${location.path} is said to be a picture`)
}

/** When all that waits is sent, by the quota, as `status` says it. */
function mustForetellQuota({ allowance, mirrors, state: { synced }, machine, history, oracle }: World): void {
  const { plan, limit, reserve, probeEveryMs } = allowance
  const time_zone = zoneOf(history.setting)
  const config = {
    host: {
      plan,
      daily_quota: limit,
      requests_per_second: { upload: 10 },
      ...(time_zone !== null && { quota_reset: { minutes: 0, time_zone } }),
    },
    quota: { reserve, probe_every: probeEveryMs },
    uploads: { order: history.order },
    account: {},
    mirrors,
  } as unknown as Config
  const { backlog } = quotaStatus(config, synced, machine.wall())
  const { pictures, days, today, today_seconds } = backlog
  if (!(days >= 0 && today >= 0 && today <= pictures && today_seconds >= 0))
    oracle.report('foretells', `what waits takes ${days} days: ${today} of ${pictures} in ${today_seconds} s`)
}

/** What `restore --at` would bring back lay there at some time. */
function mustBeRestorable(
  { state: { synced }, mirrors, machine, disk, oracle }: World,
  { id }: MirrorRow,
  full: string,
  path: string,
): void {
  const since = restorableSince(synced, [id])
  if (since === null) return
  const moment = since + Math.max(0, Math.floor((machine.wall() - since) / 2))
  const version = versionAt(synced, { mirror: id, path }, rowAt(synced, mirrors, full), moment)
  if (version && !disk.everHeld(full, version.hash.toString('hex')))
    oracle.report('restores-what-was', `${full} never had the bytes that are to come back`)
}

/** Where disk and host agree, nobody is told of a picture that lies there that it is not known. */
export function mustKnowAll(world: World): void {
  const context = outlookContext(world)
  for (const { path, mirror } of livePictures(world.disk, world.mirrors)) {
    const state = stateAt(context, { mirror, path: path.slice(mirror.folder.length + 1) })
    if (state === 'absent' || state === 'unseen')
      world.oracle.report('foretells', `${path} is said to be ${state}`)
  }
}

type Context = OutlookContext & Parameters<typeof outlook>[0]

/** Words and commands are made too: each must have all its facts. */
function stateAt(context: Context, location: MirrorLocation): PathState {
  const { state, reason, next } = outlook(context, location)
  inWords(reason)
  for (const { why } of next) commandOf(why) ?? inWords(why)
  return state
}

function outlookContext(world: World): Context {
  const { state, machine, mirrors, allowance, hours, seat, pausing } = world
  const now = machine.wall()
  return {
    synced: state.synced,
    disk: diskFor(world.disk, new Looks(() => 0), machine.wall, () => {}),
    claims: seat?.claims ?? ALONE,
    now,
    running: world.life !== null,
    mirrors,
    allowance,
    hold: world.history.hold,
    uploadForm: world.history.setting.uploadForm,
    settleMs: SETTLE_MS,
    incomplete: INCOMPLETE,
    lossEndsAt: lossEndsAt(state.synced, LIFETIME_MS, machine),
    credentialLifetimeMs: LIFETIME_MS,
    paused: pausing.holdsAt(now) ? pausing.saved() : null,
    uploadsWaitUntil: hours === null || isOpen(hours, now) ? null : now + openFor(hours, now),
  }
}
