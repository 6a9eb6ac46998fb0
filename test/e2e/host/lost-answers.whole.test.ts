import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ENDPOINTS } from '../../../src/protocol/endpoints.ts'
import { png } from '../../pictures.ts'
import { FAULTS, type Fault, type FaultProxy, type Kind } from '../stage/fault-proxy.ts'
import {
  expectInSync,
  type FaultStage,
  localTree,
  passUntilDone,
  SOON,
  setLeapingStage,
} from '../stage/fault-stage.ts'
import { inParallel } from '../stage/in-parallel.ts'
import { startDaemon } from '../stage/process.ts'

/** What looks to albumd and to the host like another fault of the same endpoint. Only of a picture's bytes it counts how many
 * have left. A listing changes nothing, so it is the same whether the host has answered it or not. A credential that albumd
 * did not get is of no use, whenever the host has made it. */
const ALIKE: Partial<Record<Kind, readonly Fault[]>> = {
  upload: ['half_body', 'late'],
  list: ['half_body', 'drop_answer', 'late'],
  delete: ['half_body'],
  create_album: ['half_body'],
}

/** Never arrived, arrived, perhaps refused by a proxy, arrived later: what an upload in doubt may be in doubt about. */
const DOUBTS = ['reset', 'drop_answer', 'html_502', 'late'] as const satisfies Fault[]

/** Everything albumd does at a host: new albums, a new picture in each, a changed one, a moved one, a deleted one. */
function edit(stage: FaultStage): void {
  stage.write('new/deep/first.png', png(7, 5, 1).bytes)
  stage.write('new/second.png', png(7, 5, 2).bytes)
  stage.write('a/changes.png', png(7, 5, 3).bytes)
  renameSync(join(stage.pictures, 'a/moves.png'), join(stage.pictures, 'b/moved.png'))
  rmSync(join(stage.pictures, 'a/goes.png'))
}

function settledStage(life: Partial<typeof SOON> = {}): Promise<FaultStage> {
  return setLeapingStage({
    ...life,
    // Some of the answers come when nobody is to wait for them any more.
    access: { timeout: '1s', ...life.access },
    before(stage) {
      for (const [shade, name] of ['stays', 'changes', 'moves', 'goes'].entries())
        stage.write(`a/${name}.png`, png(4, 4, shade).bytes)
      stage.write('b/stays.png', png(4, 4, 9).bytes)
    },
  })
}

/** The names of the files that the host took, as often as it took them. */
function taken(proxy: FaultProxy): string[] {
  return proxy.log
    .filter(({ kind, answer }) => kind === 'send' && answer?.status === 200)
    .map(({ body }) => /filename="([^"]*)"/.exec(body.toString('latin1'))![1]!)
}

/** Both sides hold the same. Nothing is lost any more, and on a busy machine no answer is to be lost by albumd either. */
async function expectInTheEnd(stage: FaultStage): Promise<void> {
  await stage.proxy.quiet()
  stage.waitLonger()
  await expectInSync(stage)
}

describe('with one answer lost on the way, passes come to their end with both sides equal and nothing twice', () => {
  it.each(ENDPOINTS)('at %s', async kind => {
    const faults = FAULTS.filter(fault => !ALIKE[kind]?.includes(fault))
    await inParallel(4, faults, async fault => {
      const stage = await settledStage()
      edit(stage)
      stage.proxy.fail(kind, 1, fault)
      await passUntilDone(stage)
      expect(stage.proxy.outstanding()).toBe(0)
      await expectInTheEnd(stage)
    })
  })

  it('at several in a row, and at their repetition', async () => {
    const kinds = [['send'], ['create_album'], ['upload', 'send'], ['list', 'create_album', 'send', 'delete']]
    await inParallel(4, kinds as Kind[][], async at => {
      const stage = await settledStage()
      edit(stage)
      // There are but two albums to make.
      const times = (kind: Kind) => (kind === 'create_album' ? [1, 2] : [1, 2, 3])
      for (const kind of at) for (const nth of times(kind)) stage.proxy.fail(kind, nth, 'drop_answer')
      await passUntilDone(stage)
      expect(stage.proxy.outstanding()).toBe(0)
      for (const kind of at) {
        const faults = stage.proxy.log.filter(passed => passed.kind === kind).map(({ fault }) => fault)
        const first = faults.indexOf('drop_answer')
        const lost = times(kind).map(() => 'drop_answer')
        expect(faults.slice(first, first + lost.length)).toEqual(lost)
      }
      await expectInTheEnd(stage)
    })
  })

  it('where half of a large picture had left', async () => {
    const stage = await setLeapingStage()
    stage.write('large.png', png(4000, 4000).bytes)
    stage.proxy.fail('send', 1, 'half_body')
    await passUntilDone(stage)
    expect(taken(stage.proxy)).toEqual(['large.png'])
    await expectInSync(stage)
  })

  it('where the delivery address says 404 for good', async () => {
    await inParallel(4, DOUBTS, async fault => {
      const stage = await settledStage()
      edit(stage)
      stage.proxy.fail('deliver', 'each', 'cached_404')
      stage.proxy.fail('send', 2, fault)
      await passUntilDone(stage)
      expect(stage.proxy.outstanding()).toBe(0)
      await expectInTheEnd(stage)
    })
  })
})

it('run does the same by itself', async () => {
  // It is the same engine: each endpoint once, and each fault once.
  const cells = FAULTS.map((fault, n) => ({ kind: ENDPOINTS[n % ENDPOINTS.length]!, fault }))
  await inParallel(5, cells, async ({ kind, fault }) => {
    const stage = await settledStage(SOON)
    stage.proxy.fail(kind, 2, fault)
    const daemon = startDaemon(stage)
    await daemon.told('scan_finished')
    edit(stage)
    await expect.poll(() => stage.delivered().catch(String), { interval: 500 }).toEqual(localTree(stage))
    expect(await daemon.stop()).toBe(0)
    await stage.proxy.quiet()
    // It may have ended in the middle of a scan, or before it knew of an answer, which the next one makes good.
    await passUntilDone(stage)
    await expectInTheEnd(stage)
  })
})

describe('with a plan that lists nothing', () => {
  const noList = { plansFrom: 'flagship' } as const

  it.each(['reset', 'drop_answer'] as const)(
    'and a silent delivery address, what was lost by "%s" is uncertain and left alone until a person has it sent again',
    async fault => {
      const stage = await setLeapingStage({ host: noList })
      stage.write('lost.png', png(7, 5, 1).bytes)
      stage.proxy.fail('deliver', 'each', 'cached_404')
      stage.proxy.fail('send', 1, fault)
      const sends = () => stage.proxy.log.filter(({ kind }) => kind === 'send').length
      for (let run = 0; run < 5; run++) {
        expect(await stage.pass()).toMatchObject({ exit_code: 3 })
        await stage.leap()
      }
      expect(sends()).toBe(1)
      expect((await stage.status()).mirrors[0]).toMatchObject({ uncertain: 1, synced: 0 })
      stage.write('other.png', png(7, 5, 2).bytes)
      expect(await stage.pass()).toMatchObject({ exit_code: 3 })
      expect(sends()).toBe(2)
      const resent = await stage.here('retry', '--resend', 'lost.png', '--config', stage.config)
      expect(resent).toMatchObject({ code: 0 })
      expect(await stage.pass()).toMatchObject({ exit_code: 0 })
      expect(sends()).toBe(3)
      expect((await stage.status()).mirrors[0]).toMatchObject({ uncertain: 0, synced: 2 })
      expect(taken(stage.proxy).filter(name => name === 'lost.png')).toHaveLength(fault === 'reset' ? 1 : 2)
    },
  )

  it('what the delivery address gives is there', async () => {
    const stage = await setLeapingStage({
      host: noList,
      // An acknowledged upload shows how addresses are built from ids.
      before: ({ write }) => write('first.png', png(7, 5, 1).bytes),
    })
    stage.write('lost.png', png(7, 5, 2).bytes)
    stage.proxy.fail('send', 1, 'drop_answer')
    await passUntilDone(stage, 3)
    expect(taken(stage.proxy)).toEqual(['first.png', 'lost.png'])
    expect((await stage.status()).mirrors[0]).toMatchObject({ uncertain: 0, synced: 2 })
  })
})
