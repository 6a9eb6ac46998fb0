import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { filesBelow, hashesBelow, type Place } from '../place.ts'
import { Program } from '../program.ts'

/** What lies on the other side. */
export interface RemoteSide {
  /** The hashes of what it shows, one for each file. */
  shown(): string[]
  /** The hashes of older versions that are kept. */
  kept(): string[]
  /** Changes with what is on it. */
  signature(): string
}

/** A tool in one cell. All waits have an end. */
export interface Tool extends RemoteSide {
  start(): Promise<void>
  /** Waits until the tool has done what it will do. */
  settle(): Promise<void>
  stop(): Promise<void>
  /** SIGKILL, as when the power goes. */
  kill(): Promise<void>
  /** While it is stopped. */
  loseState(): void
  /** What a person would see of trouble. */
  told(): Promise<string[]>
  /** Has the tool's own command bring the pictures back as they were at `at` into a folder. Left out: it has none. */
  bringBack?(into: string, at: Date): Promise<void>
  /** Ends what is beside the tool. */
  close(): Promise<void>
}

/** A column of the table. */
export interface Variant {
  tool: string
  /** How it is run, in a few words. */
  how: string
  /** The programs that it needs. */
  needs: readonly string[]
  make(place: Place): Promise<Tool>
}

export function folderSide({ remote, versions }: Place): RemoteSide {
  return {
    shown: () => [...hashesBelow(remote).values()],
    kept: () => [versions, join(remote, '.stversions')].flatMap(folder => [...hashesBelow(folder).values()]),
    signature: () =>
      filesBelow(remote)
        .map(path => {
          const stat = lstatSync(join(remote, path), { throwIfNoEntry: false })
          return `${path} ${stat?.size} ${stat?.mtimeMs}`
        })
        .join('\n'),
  }
}

/** Waits until what `look` answers has stayed the same for `seconds`, at most for `most`. */
export async function unchanged(look: () => string, seconds: number, most = 150): Promise<void> {
  let last = look()
  let since = performance.now()
  const end = since + most * 1000
  while (performance.now() - since < seconds * 1000 && performance.now() < end) {
    await sleep(500)
    const now = look()
    if (now !== last) [last, since] = [now, performance.now()]
  }
}

export interface Passes {
  place: Place
  side: RemoteSide
  /** The command line of a pass, as it is to be run now. */
  line(): readonly [command: string, ...args: string[]]
  env?: NodeJS.ProcessEnv
  /** What it says where something is wrong, beside an exit code. */
  trouble: RegExp
  loseState?(): void
}

/** A tool that makes a pass and ends, and is run again a moment later, as by cron. */
export function passes({ place, side, line, env = {}, trouble, loseState = () => {} }: Passes): Tool {
  const told: string[] = []
  let wanted = false
  let done = 0
  let loop: Promise<void> = Promise.resolve()
  let current: Program | null = null

  async function again(): Promise<void> {
    while (wanted) {
      const [command, ...args] = line()
      current = new Program(command, args, join(place.home, `pass-${done}.log`), { HOME: place.home, ...env })
      // A pass that asks somebody never ends.
      const code = await current.endedWithin(60)
      const lines = current
        .said()
        .split('\n')
        .filter(text => trouble.test(text))
      if (code !== 0 || lines.length > 0) told.push(`exit ${code}: ${lines[0] ?? ''}`)
      done++
      await sleep(500)
    }
  }

  return {
    ...side,
    loseState,
    async start() {
      wanted = true
      loop = again()
    },
    /** One may be under way that began earlier; then two whole ones. */
    async settle() {
      const end = performance.now() + 180_000
      for (const before = done; done < before + 3 && performance.now() < end; ) await sleep(100)
    },
    async stop() {
      wanted = false
      await loop
    },
    async kill() {
      wanted = false
      current?.signalAll('SIGKILL')
      await loop
      // That it was killed is no news.
      told.length = 0
    },
    told: async () => told.splice(0),
    async close() {},
  }
}
