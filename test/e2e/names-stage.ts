import { mkdirSync, renameSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { UNLIMITED } from '../host/choices.ts'
import { localTree } from './fault-stage.ts'
import { QUICK, type Stage, type StageOptions, setStage } from './stage.ts'

/** A stage without limits on requests, and without the hold. */
export function setting(options: StageOptions = {}): Promise<Stage> {
  return setStage({
    host: { requestsPerSecond: UNLIMITED },
    ...options,
    config: { deletions: { hold_min: 1_000_000 }, ...options.config },
  })
}

/**
 * Short-lived credentials end all doubt soon: about what a lost state had sent, and about empty albums. Not shorter: on
 * a busy machine an upload takes seconds.
 */
export function configure(stage: Stage, changes: object = {}, baseUrl = stage.baseUrl): void {
  stage.configure({
    host: {
      base_url: baseUrl,
      api_key_file: 'api-key',
      requests_per_second: QUICK,
      credential_lifetime: '10s',
    },
    deletions: { hold_min: 1_000_000 },
    ...changes,
  })
}

export function move(stage: Stage, from: string, to: string): void {
  mkdirSync(dirname(join(stage.pictures, to)), { recursive: true })
  renameSync(join(stage.pictures, from), join(stage.pictures, to))
}

/** One pass that leaves nothing over, and both sides are the same. */
export async function syncs(stage: Stage): Promise<void> {
  expect(await stage.sync()).toMatchObject({ code: 0, err: '' })
  expect(await stage.delivered()).toEqual(localTree(stage))
}
