import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { png } from '../pictures.ts'
import type { Process } from './albumd-process.ts'
import { type FaultStage, localTree, setFaultStage } from './fault-stage.ts'
import type { Stage } from './stage.ts'

/** Slow enough that something can happen in the middle. */
const SLOWLY = { requests_per_second: { upload: 10, list: 500, delete: 500, create_album: 500 } }

export function writePictures(stage: Stage, from: number, to: number): void {
  for (let n = from; n < to; n++) stage.write(`${n % 3}/${n}.png`, png(2 + n, 2).bytes)
}

/** With so many pictures, of which nothing was sent yet. */
export async function stageOf(pictures: number): Promise<FaultStage> {
  const stage = await setFaultStage({ access: SLOWLY })
  writePictures(stage, 0, pictures)
  return stage
}

export const within = { timeout: 45_000 }
const uploads = (process: Process) => process.out().match(/picture_uploaded|^uploaded /gm)?.length ?? 0
export const uploaded = (process: Process, atLeast: number) =>
  expect.poll(() => uploads(process), within).toBeGreaterThanOrEqual(atLeast)
export const says = (process: Process, what: RegExp) => expect.poll(process.out, within).toMatch(what)

export function loseState({ home }: Stage): void {
  for (const name of readdirSync(join(home, 'state')))
    if (name.startsWith('albumd.db')) rmSync(join(home, 'state', name))
}

/** One line for a person: nothing of a stack. */
export function oneLine(text: string, what: RegExp): void {
  expect(text.trimEnd().split('\n')).toHaveLength(1)
  expect(text).toMatch(/^albumd: /)
  expect(text).toMatch(what)
}

/** Ends a daemon, which must have told no person of anything. */
export async function ended(daemon: Process): Promise<void> {
  daemon.kill('SIGTERM')
  expect(await daemon.ended).toEqual({ code: 0, signal: null })
  expect(daemon.err()).toBe('')
}

/** After the records were made anew: nothing was sent again, and nothing went. */
export async function expectTheSame(stage: Stage, before: string[]): Promise<void> {
  expect(await stage.listing()).toEqual(before)
  expect(await stage.delivered()).toEqual(localTree(stage))
  expect((await stage.json('status')).mirrors).toMatchObject([
    { pending_uploads: 0, pending_deletions: 0, failed: 0, uncertain: 0 },
  ])
}
