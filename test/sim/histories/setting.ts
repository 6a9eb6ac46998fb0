import { daysOf } from '../../../src/protocol/days.ts'
import type { Allowance } from '../../../src/sync/quota/quota-state.ts'
import type { Random } from './random.ts'

/** What a history is set in: what a person has configured, and of what kind the disk and its pictures are. */
export interface Setting {
  /** When uploads may begin; null: always. */
  hours: Hours | null
  /** Images a day by albumd's own count, and the share of them that is kept for the day's new ones. */
  limit: number
  reserve: number
  /** The time zone of the host's days, as the config names it; null: it names none. */
  zone: string | null
  /** Pictures tell by their bytes where they end, SVGs aside. */
  endings: boolean
  /** The disk stamps with its last tick, in milliseconds. */
  tickMs: number
  /** The system lists what is mounted: only so a mount of the same device is noticed. */
  mountsListed: boolean
  /** The disk tells when a file or folder was made. */
  birthTimes: boolean
  /** How an upload is asked for; presign names no album. */
  uploadForm: 'credential' | 'presign'
  /** From which pass on, and up to which, pictures are sent without metadata. Left out: never. */
  strips?: { from: number; to: number }
}

export const PLAIN_SETTING: Setting = {
  hours: null,
  limit: 5000,
  reserve: 0.1,
  zone: null,
  endings: false,
  tickMs: 4,
  mountsListed: false,
  birthTimes: true,
  uploadForm: 'credential',
}

/** Histories begin at 13:00. */
const HOURS: readonly Hours[] = [
  { from: 22 * 60, to: 7 * 60 },
  { from: 0, to: 60 },
  { from: 13 * 60 + 30, to: 15 * 60 },
  { from: 12 * 60, to: 13 * 60 + 1 },
]

export function drawSetting(random: Random): Setting {
  return {
    hours: random.chance(0.25) ? random.pick(HOURS) : null,
    ...(random.chance(0.25)
      ? { limit: 2 + random.below(5), reserve: random.pick([0.3, 0.5, 0.8]) }
      : { limit: PLAIN_SETTING.limit, reserve: PLAIN_SETTING.reserve }),
    zone: null,
    endings: random.chance(0.6),
    tickMs: random.chance(0.1) ? random.pick([10, 1000]) : PLAIN_SETTING.tickMs,
    mountsListed: random.chance(0.7),
    birthTimes: PLAIN_SETTING.birthTimes,
    uploadForm: PLAIN_SETTING.uploadForm,
  }
}

const PROBE_EVERY_MS = 900_000

/** The time zone of the host's days, for quota and config alike. Where few may go in a day, it is UTC. Null: none is known. */
export function zoneOf({ limit, zone }: Setting): string | null {
  return zone ?? (limit === PLAIN_SETTING.limit ? null : 'UTC')
}

export function allowanceOf(setting: Setting, order: 'newest' | 'oldest' = 'newest'): Allowance {
  const { limit } = setting
  const reserve = order === 'newest' ? setting.reserve : 0
  const time_zone = zoneOf(setting)
  const days = time_zone === null ? null : daysOf({ minutes: 0, time_zone })
  return { plan: 'professional', limit, reserve, days, probeEveryMs: PROBE_EVERY_MS }
}

/** In minutes after midnight, UTC: a history is the same on every machine. `from` belongs to them, `to` does not. */
export interface Hours {
  from: number
  to: number
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

export function isOpen({ from, to }: Hours, wall: number): boolean {
  const minute = Math.floor(wall / MINUTE_MS) % DAY_MINUTES
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/** How long they stay open, in milliseconds. */
export function openFor({ to }: Hours, wall: number): number {
  const dayMs = DAY_MINUTES * MINUTE_MS
  return (((to * MINUTE_MS - wall) % dayMs) + dayMs) % dayMs
}
