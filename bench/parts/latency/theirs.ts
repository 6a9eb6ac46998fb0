import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../../test/free-port.ts'
import { nowMs } from '../../measure/wait.ts'
import type { Means } from '../../part.ts'
import { startChokidar } from '../../peers/chokidar.ts'
import { startLsyncd } from '../../peers/lsyncd.ts'
import { startSyncthing, syncthingId } from '../../peers/syncthing.ts'
import { fileName } from '../../trees/shape.ts'
import { PICTURE_SIZE, writePicture } from './write-picture.ts'

/** Milliseconds from a picture's close until a peer has it, for each picture. Peers that lost one are left out. */
export type TheirLatencies = Record<string, number[]>

/** All peers have what is left within so many seconds of the last picture; else something is wrong. */
const LIMIT_SECONDS = 120

/** Between two pictures. */
const APART_MS = 100

interface Peer {
  name: string
  /** When it has had these pictures; see `nowMs`. Those that it does not have are left out. */
  arrived(names: readonly string[]): Promise<Map<string, number>>
  stop(): Promise<void>
}

/** All peers watch one folder. They collect for seconds, so pictures need not wait for each other. */
export async function theirLatencies(means: Means, pictures: number): Promise<TheirLatencies> {
  const from = join(means.scratch, 'latency')
  mkdirSync(from)
  const peers = await startPeers(means, from)
  try {
    await sleep(3000)
    const closed = new Map<string, number>()
    const arrivals = new Map(peers.map(peer => [peer.name, new Map<string, number>()]))
    const look = async () => {
      for (const peer of peers) {
        const known = arrivals.get(peer.name)!
        const missing = [...closed.keys()].filter(name => !known.has(name))
        for (const [name, at] of await peer.arrived(missing)) known.set(name, at)
      }
    }
    for (let number = 0; number < pictures; number++) {
      const name = fileName(number)
      closed.set(name, await writePicture(join(from, name), number % 2 === 1))
      for (const next = nowMs() + APART_MS; nowMs() < next; await sleep(10)) await look()
    }
    const all = () => [...arrivals.values()].every(known => known.size === pictures)
    for (const end = nowMs() + LIMIT_SECONDS * 1000; !all() && nowMs() < end; await sleep(10)) await look()
    const whole = [...arrivals].filter(([name, { size }]) => {
      if (size < pictures) means.say(`left out: ${name} had ${size} of ${pictures} pictures in the end`)
      return size === pictures
    })
    return Object.fromEntries(
      whole.map(([name, known]) => [name, [...known].map(([file, at]) => at - closed.get(file)!)]),
    )
  } finally {
    for (const peer of peers) await peer.stop()
  }
}

async function startPeers(means: Means, from: string): Promise<Peer[]> {
  const { has, scratch } = means
  const peers: Peer[] = [await chokidarPeer(from)]
  if (has('syncthing', 'Syncthing')) peers.push(await syncthingPeer(scratch, from))
  if (has('lsyncd', 'lsyncd')) peers.push(lsyncdPeer(scratch, from))
  return peers
}

async function chokidarPeer(from: string): Promise<Peer> {
  const chokidar = await startChokidar({ folder: from, awaitWriteFinish: true })
  return {
    name: 'chokidar awaitWriteFinish',
    arrived: async () => new Map((await chokidar.seen()).map(({ name, atMs }) => [name, atMs])),
    stop: chokidar.stop,
  }
}

async function syncthingPeer(scratch: string, from: string): Promise<Peer> {
  const to = join(scratch, 'latency-syncthing')
  const homes = [join(scratch, 'syncthing-from'), join(scratch, 'syncthing-to')] as const
  const ids = homes.map(syncthingId) as [string, string]
  const syncPorts = [await freePort(), await freePort()] as const
  const both = [
    await startSyncthing({
      home: homes[0],
      folder: from,
      guiPort: await freePort(),
      syncPort: syncPorts[0],
      peer: { id: ids[1], syncPort: syncPorts[1] },
    }),
    await startSyncthing({
      home: homes[1],
      folder: to,
      guiPort: await freePort(),
      syncPort: syncPorts[1],
      peer: { id: ids[0], syncPort: syncPorts[0] },
    }),
  ]
  for (const each of both) await each.idle()
  return {
    name: 'Syncthing',
    arrived: async names => wholeIn(to, names),
    async stop() {
      for (const each of both) await each.stop()
    },
  }
}

function lsyncdPeer(scratch: string, from: string): Peer {
  const to = join(scratch, 'latency-lsyncd')
  mkdirSync(to)
  const lsyncd = startLsyncd(join(scratch, 'lsyncd'), from, to)
  return { name: 'lsyncd', arrived: async names => wholeIn(to, names), stop: lsyncd.stop }
}

/** Both write aside and rename: what has its name is whole. */
function wholeIn(folder: string, names: readonly string[]): Map<string, number> {
  const there = names.filter(
    name => statSync(join(folder, name), { throwIfNoEntry: false })?.size === PICTURE_SIZE,
  )
  return new Map(there.map(name => [name, nowMs()]))
}
