import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { albumPathOf } from '../../src/sync/album-name.ts'
import { UNLIMITED } from '../host/choices.ts'
import { png } from '../pictures.ts'
import { type Stage, type StageOptions, setStage, sha256 } from './stage.ts'

const RATES = { upload: 500, send: 500, list: 500, delete: 500, create_album: 500 }
let shade = 0

/** A picture: another one each time. */
export const some = () => png(3 + (shade % 7), 2 + Math.floor(shade / 7 / 251), shade++ % 251).bytes

/** A stage without limits on requests, and without the hold. */
export function setting(options: StageOptions = {}): Promise<Stage> {
  return setStage({
    host: { requestsPerSecond: UNLIMITED },
    ...options,
    config: { deletions: { hold_min: 1_000_000 }, ...options.config },
  })
}

/** Short-lived credentials end all doubt soon: about what a lost state had sent, and about empty albums. */
export function configure(stage: Stage, changes: object = {}, baseUrl = stage.baseUrl): void {
  stage.configure({
    host: {
      base_url: baseUrl,
      api_key_file: 'api-key',
      requests_per_second: RATES,
      credential_lifetime: '1s',
    },
    deletions: { hold_min: 1_000_000 },
    ...changes,
  })
}

export function move(stage: Stage, from: string, to: string): void {
  mkdirSync(dirname(join(stage.pictures, to)), { recursive: true })
  renameSync(join(stage.pictures, from), join(stage.pictures, to))
}

export function loseState({ home }: Stage): void {
  for (const name of readdirSync(join(home, 'state')))
    if (name.startsWith('albumd.db')) rmSync(join(home, 'state', name))
}

/** What the host should hold: an image's album path and name → SHA-256 of the file's bytes. */
export function localTree({ pictures }: Stage): Record<string, string> {
  const tree: Record<string, string> = {}
  for (const entry of readdirSync(pictures, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const album = albumPathOf('Photos', entry.parentPath.slice(pictures.length + 1))
    tree[[...album, entry.name].join('/')] = sha256(readFileSync(join(entry.parentPath, entry.name)))
  }
  return tree
}

/** One pass that leaves nothing over, and both sides are the same. */
export async function syncs(stage: Stage): Promise<void> {
  expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
  expect(await stage.delivered()).toEqual(localTree(stage))
}
