import type { ByteSource } from '../protocol/byte-reader.ts'
import type { Clock } from '../protocol/clock.ts'
import { type DayBegins, MIDNIGHT_UTC } from '../protocol/days.ts'
import type { Endpoint } from '../protocol/endpoints.ts'
import { CREDENTIAL_LIFETIME_MS, DAILY_QUOTA, type Plan, REQUESTS_PER_SECOND } from '../protocol/limits.ts'
import type { Picture } from '../protocol/picture/picture.ts'
import { FILE_SIZE_MAX, OWN_READINGS, type Readings, STORAGE_MAX } from './decisions.ts'

/** What the host's logic needs from outside, as parameters. The simulation passes virtual time and a virtual disk. */

export type HostClock = Omit<Clock, 'sleep'>

export type Random = (bytes: number) => Buffer

/** Reads a picture's format and dimensions from its bytes. Null: the bytes are no picture of §4.3's formats. */
export type ReadPicture = (source: ByteSource) => Promise<Picture | null>

/** Stores the bytes of images. `file`: a name that the store has given, never one of a client. */
export interface PictureStore {
  /** Begins to store a picture. Nobody can read the picture before `keep` was called. */
  begin(): Promise<Draft>
  read(file: string): Promise<ReadableStream<Uint8Array>>
  /** Removes a picture. A picture that is gone already is no error. Throws when the bytes can't be removed. */
  remove(file: string): void
  /** The names of all stored pictures; pictures that are still being received are not among them. */
  files(): Iterable<string>
  freeBytes(): number
}

export interface Draft extends ByteSource {
  append(chunk: Uint8Array): Promise<void>
  /** Stores the picture for good. Resolves to its name once its bytes would survive a power cut. */
  keep(): Promise<string>
  /** Removes the picture, also after `keep`. */
  discard(): Promise<void>
}

/** Choices about a host's behaviour. For a choice that is left out, §8 and the plan decide. */
export interface HostChoices {
  plan: Plan
  /** The lowest plan that allows an account to list, delete and create albums (§1.6). */
  plansFrom?: Plan
  dailyQuota?: number
  /** Bytes. */
  maxFileSize?: number
  storageLimit?: number
  credentialTtlMs?: number
  requestsPerSecond?: Partial<Record<Endpoint, number>>
  /** The path of the album for uploads that name no album, such as "a/b". Null: they go to the root. */
  defaultAlbum?: string | null
  dayBegins?: DayBegins
  readings?: Partial<Readings>
}

export interface HostSettings extends Required<Omit<HostChoices, 'requestsPerSecond' | 'readings'>> {
  requestsPerSecond: Readonly<Record<Endpoint, number>>
  readings: Readings
}

export function settle(choices: HostChoices): HostSettings {
  return {
    plan: choices.plan,
    plansFrom: choices.plansFrom ?? 'professional',
    dailyQuota: choices.dailyQuota ?? DAILY_QUOTA[choices.plan],
    maxFileSize: choices.maxFileSize ?? FILE_SIZE_MAX[choices.plan],
    storageLimit: choices.storageLimit ?? STORAGE_MAX[choices.plan],
    credentialTtlMs: choices.credentialTtlMs ?? CREDENTIAL_LIFETIME_MS,
    requestsPerSecond: { ...REQUESTS_PER_SECOND, ...choices.requestsPerSecond },
    defaultAlbum: choices.defaultAlbum ?? null,
    dayBegins: choices.dayBegins ?? MIDNIGHT_UTC,
    readings: { ...OWN_READINGS, ...choices.readings },
  }
}
