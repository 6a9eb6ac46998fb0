import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { openDatabase, type Statements, statements } from '../../../src/synced/database.ts'
import { openUnusedAlbums } from '../../../src/synced/tables/albums.ts'
import { openJournal } from '../../../src/synced/tables/journal.ts'
import { png } from '../../pictures.ts'
import { expectInSync, type LeapingStage, passUntilDone, setLeapingStage } from '../stage/fault-stage.ts'
import { inParallel } from '../stage/in-parallel.ts'
import { startAlbumd } from '../stage/process.ts'
import type { KillAt } from './kill-at.ts'

/** What statements are called here, by what only they have. */
const NAMES: [pattern: RegExp, name: string][] = [
  [/^INSERT.*'upload'/s, 'open upload'],
  [/^INSERT.*'create_album'/s, 'open album creation'],
  [/^INSERT.*'delete_image'/s, 'open image deletion'],
  [/^DELETE.*WHERE image = /s, 'forget image'],
  [/^DELETE FROM journal WHERE id = /s, 'close'],
  [/^UPDATE journal SET sent_at/s, 'restart clocks'],
  [/^INSERT INTO unused_albums/s, 'open album deletion'],
  [/^DELETE FROM albums/s, 'forget album'],
]

interface Transition {
  name: string
  sql: string
}

/** Every statement by which the journal changes, or what is known of albums that go. */
function transitions(open: (sql: Statements) => unknown): Transition[] {
  const db = openDatabase(':memory:')
  const writing = new Set<string>()
  // A statement is prepared only when it is used, but made from its text at once.
  const kinds = statements(db)
  const noted = new Proxy(kinds, {
    get:
      (_, kind: keyof Statements) =>
      (sql: string, ...others: unknown[]) => {
        // These two name a table.
        if (kind === 'kept' || kind === 'isEmpty')
          return (kinds[kind] as (...all: unknown[]) => unknown)(sql, ...others)
        // So a statement is prepared: its values are bound by their places.
        const prepared = sql.replace(/@\w+/g, '?')
        if (!db.prepare(prepared).readonly) writing.add(prepared)
        return (kinds[kind] as (sql: string) => unknown)(sql)
      },
  })
  open(noted)
  db.close()
  return [...writing].map(sql => ({ sql, name: NAMES.find(([pattern]) => pattern.test(sql))?.[1] ?? sql }))
}

const JOURNAL = transitions(openJournal)
const ALBUM_DELETIONS = transitions(openUnusedAlbums).filter(({ name, sql }) => name !== sql)

async function settledStage(): Promise<LeapingStage> {
  const stage = await setLeapingStage({
    onDisk: true,
    before({ write }) {
      for (const [shade, name] of ['stays', 'changes', 'moves', 'goes', 'goestoo'].entries())
        write(`a/${name}.png`, png(4, 4, shade).bytes)
    },
  })
  // All of these come in one pass: two albums, four uploads, four deletions.
  stage.write('new/deep/first.png', png(7, 5, 1).bytes)
  stage.write('new/second.png', png(7, 5, 2).bytes)
  stage.write('a/changes.png', png(7, 5, 3).bytes)
  renameSync(join(stage.pictures, 'a/moves.png'), join(stage.pictures, 'moved.png'))
  for (const name of ['goes', 'goestoo']) rmSync(join(stage.pictures, `a/${name}.png`))
  return stage
}

interface Scenario {
  set: () => Promise<LeapingStage>
  transitions: Transition[]
}

const SCENARIOS: Record<string, Scenario> = {
  'at work': { set: settledStage, transitions: JOURNAL },
  /** An earlier process lost its answers, some of them to what was done, and it was before the machine started anew. */
  'in recovery': { set: settledInDoubt, transitions: JOURNAL },
  'albums going': { set: stageOfGoingAlbums, transitions: ALBUM_DELETIONS },
}

async function settledInDoubt(): Promise<LeapingStage> {
  const stage = await settledStage()
  stage.proxy.fail('create_album', 2, 'drop_answer')
  stage.proxy.fail('send', 1, 'drop_answer')
  stage.proxy.fail('send', 2, 'reset')
  stage.proxy.fail('delete', 1, 'drop_answer')
  await stage.pass()
  const db = new Database(join(stage.home, 'state/albumd.db'))
  db.prepare(`UPDATE meta SET value = 'another' WHERE key = 'boot'`).run()
  db.close()
  return stage
}

/** Folders that are gone, whose albums were seen empty once. */
async function stageOfGoingAlbums(): Promise<LeapingStage> {
  const stage = await setLeapingStage({
    onDisk: true,
    before({ write }) {
      for (const [shade, name] of ['stays', 'a/one', 'a/deep/two', 'b/three'].entries())
        write(`${name}.png`, png(4, 4, shade).bytes)
    },
  })
  for (const name of ['a', 'b']) rmSync(join(stage.pictures, name), { recursive: true })
  await stage.pass()
  await stage.leap()
  return stage
}

/** Runs `sync` until it kills itself or has nothing left to do. Answers whether it did. */
async function syncUntilKilled(stage: LeapingStage, at: KillAt): Promise<boolean> {
  for (let run = 0; run < 25; run++) {
    const sync = startAlbumd(stage, ['sync'], {
      env: { ...stage.env, ALBUMD_KILL_AT: JSON.stringify(at) },
    })
    const { code, signal } = await sync.ended
    if (signal === 'SIGKILL') return true
    if (code === 0) return false
    if (code !== 3) throw new Error(`sync ended with ${code}:\n${sync.out()}${sync.err()}`)
    await stage.leap()
  }
  throw new Error('sync neither died nor came to its end')
}

/** Around which run of a statement the process is killed: of two moments between which nothing is sent, one stands here. */
type Kills = Record<string, readonly [moment: KillAt['moment'], nth: number][]>

const BOTH = [
  ['before', 1],
  ['after', 1],
] as const satisfies Kills[string]

/** What is killed in a scenario. A transition that was not committed leaves the records of the one before it. So a second
 * upload and a second album are killed after they are recorded, and deletions, which go one after the other, only once. */
const KILLED: Record<string, Kills> = {
  'at work': {
    'open upload': [...BOTH, ['after', 2]],
    'open album creation': [...BOTH, ['after', 2]],
    'open image deletion': BOTH,
    'forget image': BOTH,
    close: [...BOTH, ['before', 2], ['after', 2]],
  },
  'in recovery': {
    close: BOTH,
    // Before it, the process has sent nothing and written nothing.
    'restart clocks': [['after', 1]],
    'open upload': BOTH,
    'forget image': BOTH,
  },
  'albums going': { 'open album deletion': BOTH, 'forget album': BOTH },
}

/** What chance may have done in recovery before the process could be killed at it. */
const MOSTLY = ['in recovery: open upload', 'in recovery: forget image']

it('killed at any transition of the journal, both sides are equal in the end and nothing is twice', {
  timeout: 1_200_000,
}, async () => {
  const rows: string[] = []
  const reached = new Set<string>()
  const cells = Object.entries(SCENARIOS).flatMap(([scenario, { set, transitions }]) =>
    transitions.flatMap(({ name, sql }) =>
      (KILLED[scenario]![name] ?? []).map(([moment, nth]) => ({ scenario, set, name, moment, nth, sql })),
    ),
  )
  await inParallel(5, cells, async ({ scenario, set, name, moment, nth, sql }) => {
    const stage = await set()
    const killed = await syncUntilKilled(stage, { sql, moment, nth })
    await stage.proxy.quiet()
    const passes = await passUntilDone(stage)
    await expectInSync(stage)
    if (killed) reached.add(`${scenario}: ${name}, ${moment}, ${nth}`)
    const how = killed ? `survived, ${passes} more` : 'not reached'
    rows.push(
      `${scenario.padEnd(12)} ${name.padEnd(20)} ${moment.padEnd(6)} its commit, ${nth}. time: ${how}\n`,
    )
  })
  process.stdout.write(rows.sort().join(''))
  for (const [scenario, kills] of Object.entries(KILLED))
    for (const [name, moments] of Object.entries(kills)) {
      if (MOSTLY.includes(`${scenario}: ${name}`)) continue
      for (const [moment, nth] of moments)
        expect(reached).toContain(`${scenario}: ${name}, ${moment}, ${nth}`)
    }
  const named = new Set(Object.values(KILLED).flatMap(kills => Object.keys(kills)))
  for (const { name } of [...JOURNAL, ...ALBUM_DELETIONS]) expect(named).toContain(name)
})
