import { configExample } from '../../../src/config/example.ts'
import type { Config } from '../../../src/config/schema.ts'
import { type ExplainContext, explain } from '../../../src/daemon/report/explain.ts'
import { mirrorStatus } from '../../../src/daemon/report/mirror-status.ts'
import { quotaStatus } from '../../../src/daemon/report/quota-status.ts'
import { ledgerTime } from '../../../src/records/ledger-time.ts'
import { restorableSince, versionAt } from '../../../src/records/versions.ts'
import { endsDeletion } from '../../../src/sync/deletions/delete-images.ts'
import { leftOutBelow } from '../../../src/sync/scan/index.ts'
import type { MirrorRow } from '../../../src/synced/tables/mirrors.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { parse } from '../../config/config-text.ts'
import { diskFor, Looks } from '../disk/disk-port.ts'
import { livePictures } from '../disk/live-pictures.ts'
import { split, versionOfHash } from '../disk/tree.ts'
import { rowAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import { zoneOf } from '../histories/setting.ts'
import { LIFETIME_MS } from '../histories/variations.ts'

/** Asks what is recorded of everything that ever lay in a mirror, as `why` and `status` do. Nothing changes by that. */
export function mustTellTruth(world: World): void {
  const context = askedOf(world)
  const { synced, disk, config } = context
  mustForetellQuota(world, context)
  mustWait(world)
  for (const mirror of config.mirrors) {
    const { folder } = mirror
    const row = synced.mirrors.of(folder)
    mirrorStatus(context, mirror)
    for (const path of ['', 'a'])
      for (const { reason } of leftOutBelow(disk, { mirror, path })) inWords(reason)
    const held = [...world.disk.paths()]
    for (const full of new Set([folder, ...held, ...held.map(path => split(path).folder)])) {
      if (!`${full}/`.startsWith(`${folder}/`)) continue
      const path = full.slice(folder.length + 1)
      explain(context, { mirror, path })
      if (row && full !== folder) mustBeRestorable(world, row, full, path)
    }
  }
}

/** What is recorded to wait does wait: a picture is still to be sent, and an image is still to be deleted. */
function mustWait({ state: { synced }, oracle }: World): void {
  for (const { id: mirror } of synced.mirrors.all()) {
    const pending = [...synced.files.below(mirror, '')].filter(({ state }) => state === 'pending')
    const waiting = pending.filter(file => synced.waits.of(file)).length
    const all = synced.waits.below({ mirror, path: '' }).reduce((sum, { pictures }) => sum + pictures, 0)
    if (all !== waiting)
      oracle.report('foretells', `${all} pictures are said to wait, of which ${waiting} are to be sent`)
    for (const { path, why } of synced.escrow.ofMirror(mirror))
      if (why && endsDeletion(why)) oracle.report('foretells', `the image of ${path} waits for no deletion`)
  }
}

/** How much of what waits is sent today, by the quota, as `status` says it. */
function mustForetellQuota({ machine, oracle }: World, { config, synced }: ExplainContext): void {
  const { backlog } = quotaStatus(config, synced, machine.wall())
  const { pictures, today, today_seconds } = backlog
  if (!(today >= 0 && today <= pictures && today_seconds >= 0))
    oracle.report('foretells', `of what waits, ${today} of ${pictures} go today in ${today_seconds} s`)
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
  const version = versionAt(
    synced,
    { mirror: id, path },
    rowAt(synced, mirrors, full),
    ledgerTime(synced, moment),
  )
  if (version && !disk.everHeld(full, versionOfHash(version.hash)))
    oracle.report('restores-what-was', `${full} never had the bytes that are to come back`)
}

/** Where disk and host agree, nobody is told of a picture that lies there that it is not known, or that it waits. */
export function mustKnowAll(world: World): void {
  const context = askedOf(world)
  for (const { path, mirror } of livePictures(world.disk, world.mirrors)) {
    const location = {
      mirror: { ...mirror, ignore: [...mirror.ignore] },
      path: path.slice(mirror.folder.length + 1),
    }
    const { state } = explain(context, location)
    if (state === 'absent' || state === 'unseen')
      world.oracle.report('foretells', `${path} is said to be ${state}`)
  }
}

function askedOf(world: World): ExplainContext {
  const { state, machine, mirrors, allowance, history } = world
  const { plan, limit, reserve, probeEveryMs } = allowance
  const time_zone = zoneOf(history.setting)
  const example = parse(configExample())
  const config: Config = {
    ...example,
    host: {
      ...example.host,
      plan: plan as Config['host']['plan'],
      daily_quota: limit,
      quota_reset: time_zone === null ? undefined : { minutes: 0, time_zone },
      credential_lifetime: LIFETIME_MS,
    },
    quota: { ...example.quota, reserve, probe_every: probeEveryMs },
    uploads: { ...example.uploads, order: history.order, hours: undefined },
    mirrors: mirrors.map(mirror => ({ ...mirror, ignore: [...mirror.ignore] })),
  }
  return {
    config,
    synced: state.synced,
    disk: diskFor(world.disk, new Looks(() => 0), machine.wall, () => {}),
    running: world.life !== null,
    now: machine.wall(),
  }
}
