import type { Played } from '../campaign.ts'
import { Timeline } from '../engine/virtual-clock.ts'
import { type Kits, World } from '../engine/world.ts'
import { Random } from '../histories/random.ts'
import { VirtualHost } from '../host/virtual-host.ts'
import { mustConverge } from '../judges/convergence.ts'
import type { MachinesHistory } from './machines-history.ts'
import { playRush } from './rush.ts'
import { drawRush } from './rush-history.ts'
import { type Common, Seat } from './seat.ts'
import { VirtualStore } from './virtual-store.ts'

/** Two machines, one account, one host and one store: both must agree with the host, and then share the rate. */
export async function playMachines(
  history: MachinesHistory,
  kits: Kits,
  log: string[] | null = null,
): Promise<Played> {
  const { seed, machines, clockOffset, troubles, takenAt } = history
  const time = new Timeline()
  const host = new VirtualHost(kits.host, time, new Random(seed, 2), machines[0].variations)
  const store = new VirtualStore(time, new Random(seed, 22))
  const worlds: World[] = []
  const violationOf = () => worlds.map(({ oracle }) => oracle.violation).find(violation => violation) ?? null
  const isCopy = history.isCopy ?? false
  const common: Common = { time, host, store, isCopy, isOver: () => violationOf() !== null }
  const seats = (['albumd', 'second'] as const).map(me => new Seat(me, common, isCopy ? 'albumd' : me))
  for (const [at, seat] of seats.entries()) {
    const lines = log && { push: (line: string) => log.push(`${seat.me}: ${line}`) }
    const state = at === 0 ? kits.state : kits.second
    worlds.push(new World(machines[at]!, { ...kits, state }, lines as string[] | null, seat))
  }
  worlds[1]!.machine.offset = clockOffset
  time.players = 2
  store.onDouble = what => worlds[0]!.oracle.report('one-owner', what)
  for (const { at, forMs, kind, machine } of troubles) {
    time.after(at, () => {
      log?.push(`the store: ${kind}${kind === 'one' ? ` for ${machine}` : ''} for ${forMs} ms`)
      store.begin(kind, machine)
    })
    time.after(at + forMs, () => store.end())
  }
  let done = 0
  const goesOn = () => !common.isOver()
  const passes = async (world: World) => {
    for (const [pass, pause] of machines[0].pauses.entries()) {
      if (world.seat!.me === 'second' && pass === takenAt) world.seat!.takes = true
      if (goesOn()) await world.passes.run(pass)
      if (goesOn()) await world.rest(pause)
    }
  }
  const agree = async (world: World) => {
    const { length } = machines[0].pauses
    // What had begun to go wrong is over by then.
    await world.rest(400_000)
    store.end()
    world.seat!.takes = false
    if (goesOn()) await world.passes.run(length)
    if (goesOn() && !world.seat!.isOut) await mustConverge(world, length + 1)
  }
  const playOne = async (world: World) => {
    await passes(world)
    done++
    while (done < 2 && goesOn()) await world.rest(1000)
    if (goesOn()) await agree(world)
    world.oracle.secrecy.records()
    time.leave()
  }
  await Promise.all(worlds.map(playOne))
  const violation = violationOf() ?? (await playRush(drawRush(seed), log))
  return {
    violation,
    steps: worlds.reduce((sum, { passes }) => sum + passes.steps, 0),
    seen: new Set(worlds.flatMap(({ sights }) => [...sights.seen])),
  }
}
