import { chmodSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Accident } from './accidents.ts'
import { giveToUser, hashesBelow, makePlace, PICTURES, unmountBelow } from './place.ts'
import type { Tool, Variant } from './tools/tool.ts'

/** What became of the 200 pictures on the other side. */
export interface Result {
  /** Neither shown nor among the versions that are kept. */
  lost: number
  /** Files whose bytes are shown once already, or are half a picture. */
  doubled: number
  /** What a person would have seen of trouble. */
  told: string[]
  /** Pictures that the tool's own command brought back as they were before. Null: it has none. */
  back: number | null
}

/** Plays one accident with one tool, in a folder of its own that goes afterwards. */
export async function play(accident: Accident, variant: Variant, at: string): Promise<Result> {
  const place = makePlace(at, accident.mounted === true)
  const tool = await variant.make(place)
  try {
    const before = new Set(hashesBelow(place.pictures).values())
    if (accident.kills) await killWhileMirroring(tool)
    await tool.start()
    await tool.settle()
    for (let tries = 0; tries < 4 && lostOf(before, tool.shown()) > 0; tries++) await tool.settle()
    if (lostOf(before, tool.shown()) > 0 && !accident.kills)
      throw new Error('it has not mirrored the pictures')
    if (!accident.kills) await tool.told()
    // A moment by whole seconds, at which all were there.
    await sleep(1100)
    const moment = new Date()
    await sleep(1100)

    if (!accident.slowly) await tool.stop()
    if (accident.losesState) tool.loseState()
    await accident.happens(place)
    const earlier = new Set(before)
    if (accident.adds) for (const hash of hashesBelow(place.pictures).values()) before.add(hash)
    if (!accident.slowly) await tool.start()
    await tool.settle()
    const told = await tool.told()
    // Whoever sees something odd starts the program again.
    await tool.stop()
    await tool.start()
    await tool.settle()
    told.push(...(await tool.told()))
    const shown = tool.shown()
    const result = {
      lost: lostOf(before, [...shown, ...tool.kept()]),
      doubled:
        shown.length - (accident.adds ? shown.filter(hash => before.has(hash)).length : new Set(shown).size),
      told: [...new Set(told)],
    }
    if (!tool.bringBack) return { ...result, back: null }
    const into = join(at, 'back')
    mkdirSync(into)
    giveToUser(into)
    await tool.bringBack(into, moment)
    return { ...result, back: PICTURES - lostOf(earlier, hashesBelow(into).values()) }
  } finally {
    await tool.stop()
    await tool.close()
    unmountBelow(at)
    chmodSync(place.at, 0o755)
    rmSync(at, { recursive: true, force: true })
  }
}

/** The first mirroring is ended ten times, each time a moment after its start. */
async function killWhileMirroring(tool: Tool): Promise<void> {
  for (let times = 0; times < 10; times++) {
    await tool.start()
    await sleep(300 + 1500 * Math.random())
    await tool.kill()
  }
}

function lostOf(before: ReadonlySet<string>, found: Iterable<string>): number {
  const there = new Set(found)
  return [...before].filter(hash => !there.has(hash)).length
}
