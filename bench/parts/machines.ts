import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/free-port.ts'
import { mostInASecond } from '../measure/statistics.ts'
import type { Part } from '../part.ts'
import { digits } from '../table/units.ts'

const CHILD = join(import.meta.dirname, '../peers/machine-child.ts')
/** Requests a second that the account may send. */
const RATE = 10

interface Measured {
  /** The share of the permitted rate that was used. */
  used: number
  /** The most requests that came in any second. */
  most: number
  /** Processor time of a machine for a request, in milliseconds. */
  cpuMs: number
}

/** Several machines on one account: how much of the rate they use together, and what a request costs. */
export const machines: Part = {
  name: 'machines',
  about: 'three machines that share the rate of an account through Redis',
  async measure({ short, has, say, add }) {
    if (!has('redis-server', 'machines that share an account')) return
    const each = short ? 30 : 100
    const measured = async (kind: string, count: number) => {
      say(`${count} × ${kind}`)
      return measure(kind, count, each)
    }
    const alone = await measured('alone', 1)
    const shared = await measured('albumd', 3)
    const peers = {
      'albumd alone': alone,
      'rate-limiter-flexible': await measured('flexible', 3),
      'bottleneck (cluster)': await measured('bottleneck', 3).catch(() => null),
    }
    for (const [name, theirs] of Object.entries(peers)) {
      if (theirs === null) {
        say(`${name} ended early`)
        continue
      }
      const figure = (
        what: string,
        ours: string,
        other: string,
        ratio: number,
        aim = '',
        met: boolean | null = null,
      ) => add({ figure: what, ours, theirs: `${name} ${other}`, ratio, aim, met })
      figure(
        'rate used by 3 machines',
        percent(shared.used),
        percent(theirs.used),
        shared.used / theirs.used,
        '≥ 97 %',
        shared.used >= 0.97,
      )
      figure(
        `most in any second, of ${RATE}`,
        String(shared.most),
        String(theirs.most),
        shared.most / theirs.most,
        `≤ ${RATE}`,
        shared.most <= RATE,
      )
      const cost = (of: Measured) => `${digits(of.cpuMs)} ms`
      figure('processor time a request', cost(shared), cost(theirs), shared.cpuMs / theirs.cpuMs)
    }
  },
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

async function measure(kind: string, count: number, each: number): Promise<Measured> {
  const times: number[] = []
  const sink = createServer((_, answer) => {
    times.push(performance.now())
    answer.end('ok')
  }).listen(0, '127.0.0.1')
  await once(sink, 'listening')
  const port = await freePort()
  const quiet = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const store = spawn('redis-server', quiet, { stdio: 'ignore' })
  try {
    // The store starts in a few milliseconds.
    await sleep(500)
    const sinkPort = (sink.address() as AddressInfo).port
    const costs = await Promise.all(
      Array.from({ length: count }, (_, at) =>
        costOf(fork(CHILD, [kind, `${sinkPort}`, `${port}`, `machine-${at}`, `${each}`, `${RATE}`])),
      ),
    )
    const cpuMs = costs.reduce((sum, cost) => sum + cost, 0) / (count * each)
    const span = (times.at(-1)! - times[0]!) / 1000
    return { used: (times.length - RATE) / span / RATE, most: mostInASecond(times), cpuMs }
  } finally {
    store.kill('SIGKILL')
    sink.close()
    sink.closeAllConnections()
  }
}

/** The processor time that a machine took for all its requests. */
async function costOf(child: ChildProcess): Promise<number> {
  let cpuMs: number | null = null
  child.on('message', (told: { cpuMs: number }) => {
    cpuMs = told.cpuMs
  })
  await once(child, 'exit')
  if (cpuMs === null) throw new Error(`a machine ended with ${child.exitCode}`)
  return cpuMs
}
