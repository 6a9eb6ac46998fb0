import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { STEPS as HOST_STEPS } from '../../src/host/data/database.ts'
import { STEPS } from '../../src/synced/schema.ts'
import { type ObservedHost, type ObservedHostOptions, startObservedHost } from '../hosts/observed-host.ts'
import type { TimedRun } from '../measure/timed-run.ts'
import { treeIn } from '../trees/make-tree.ts'
import { TREES, type TreeName, type TreeShape } from '../trees/shape.ts'
import { agree } from './agree.ts'
import { openWorkspace, type Workspace, type WorkspaceOptions } from './workspace.ts'

/** A tree with which both sides agree, and its host at work. */
export interface SyncedTree {
  shape: TreeShape
  tree: string
  host: ObservedHost
  workspace: Workspace
  /** The host stops. */
  close(): Promise<void>
}

export interface SyncedTreeOptions extends Pick<WorkspaceOptions, 'limited' | 'watch'> {
  choices?: ObservedHostOptions['choices']
}

const UNLIMITED = {
  upload: Number.POSITIVE_INFINITY,
  send: Number.POSITIVE_INFINITY,
  list: Number.POSITIVE_INFINITY,
  delete: Number.POSITIVE_INFINITY,
  create_album: Number.POSITIVE_INFINITY,
}

/** Files stamped within so many seconds before a look are looked at again the next time. */
const FRESH_SECONDS = 3

/** The trees in the cache folder, and what albumd and its host know of them. Both outlive the bench: making them takes minutes. */
export class SyncedTrees {
  readonly #cache: string
  readonly #say: (line: string) => void
  /** Until when each tree that was opened is worked on. */
  readonly #inUse = new Map<TreeName, Promise<void>>()

  constructor(cache: string, say: (line: string) => void) {
    this.#cache = cache
    this.#say = say
  }

  tree(name: TreeName): string {
    const trees = join(this.#cache, 'trees')
    mkdirSync(trees, { recursive: true })
    return treeIn(trees, TREES[name], () => this.#say(`makes ${TREES[name].files} files (once): ${name}`))
  }

  /** Opens it once nobody else works on it. Nothing is to be done, and the host has seen nothing yet. */
  async open(name: TreeName, options: SyncedTreeOptions = {}): Promise<SyncedTree> {
    await this.#inUse.get(name)
    const shape = TREES[name]
    const tree = this.tree(name)
    const home = join(this.#cache, 'synced', name)
    const known = join(home, 'known.json')
    const version = `${STEPS.length} ${HOST_STEPS.length}`
    const before = existsSync(known) ? JSON.parse(readFileSync(known, 'utf8')) : null
    if (before?.version !== version) {
      this.#say(`lets albumd and its host agree about it (once): ${name}`)
      rmSync(home, { recursive: true, force: true })
      writeFileSync(known, JSON.stringify({ version, port: await this.#makeAgree(home, tree) }))
    }
    const { port } = JSON.parse(readFileSync(known, 'utf8'))
    const host = await startObservedHost({
      data: join(home, 'host'),
      port,
      choices: { dailyQuota: 1_000_000, requestsPerSecond: UNLIMITED, ...options.choices },
    })
    const { baseUrl } = host.listening
    const workspace = openWorkspace({ home, baseUrl, folder: tree, ...options })
    const { promise, resolve: closed } = Promise.withResolvers<void>()
    this.#inUse.set(name, promise)
    const close = () => host.stop().finally(closed)
    try {
      await becomeQuiet(workspace)
      await host.seen()
    } catch (error) {
      await close()
      rmSync(known)
      throw error
    }
    return { shape, tree, host, workspace, close }
  }

  /** The first look at a tree by an albumd that never saw it. It sends nothing: the host refuses its key. */
  async index(name: TreeName): Promise<TimedRun> {
    const tree = this.tree(name)
    const home = join(this.#cache, 'first')
    rmSync(home, { recursive: true, force: true })
    try {
      return (await index(home, tree)).run
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  }

  /** Answers the host's port, which the state is bound to. */
  async #makeAgree(home: string, tree: string): Promise<number> {
    mkdirSync(home, { recursive: true })
    await sleep(FRESH_SECONDS * 1000)
    const { state, hostData, baseUrl } = await index(home, tree)
    const { origin, port } = new URL(baseUrl)
    agree({ state, hostData, origin })
    return Number(port)
  }
}

const REFUSED = 5

/** Looks at a tree with a state and a host that are new. */
async function index(home: string, tree: string) {
  const hostData = join(home, 'host')
  mkdirSync(hostData, { recursive: true })
  const host = await startObservedHost({ data: hostData, port: 0 })
  const { baseUrl } = host.listening
  const workspace = openWorkspace({ home, baseUrl, folder: tree, key: 'a-key-that-the-host-does-not-know' })
  try {
    const run = await workspace.albumd(['sync'], { codes: [REFUSED] })
    return { run, baseUrl, hostData, state: workspace.state }
  } finally {
    await host.stop()
  }
}

/** What an earlier bench has changed, or a new tree was left to send, is sent, until a run finds nothing to do. */
async function becomeQuiet(workspace: Workspace): Promise<void> {
  for (let tries = 1; ; tries++) {
    // 3: something is left that has to wait, such as an emptied album.
    const { said, code } = await workspace.albumd(['sync', '--json'], { codes: [0, 3] })
    const { uploaded, deleted, albums_made } = JSON.parse(said)
    if (code === 0 && uploaded === 0 && deleted === 0 && albums_made === 0) return
    if (tries === MOST_RUNS) throw new Error(`there is no end of what albumd finds to do: ${said}`)
    await sleep(FRESH_SECONDS * 1000)
  }
}

const MOST_RUNS = 4
