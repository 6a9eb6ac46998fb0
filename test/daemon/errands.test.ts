import { describe, expect, it } from 'vitest'
import type { Config } from '../../src/config/schema.ts'
import { Errands, NotNow } from '../../src/daemon/control/errands.ts'
import type { Hearing, Means } from '../../src/daemon/deeds/deed.ts'
import type { Engine } from '../../src/daemon/loop/mirroring.ts'
import type { PassEvent } from '../../src/sync/pass-events.ts'
import { StateError } from '../../src/synced/state-error.ts'
import type { Synced } from '../../src/synced/synced.ts'

const never = new AbortController().signal
const hearing: Hearing = { tell() {}, say() {}, progress() {} }
const report = { stopped: [] }

function openErrands(): Errands {
  const errands = new Errands()
  errands.open({
    config: {} as Config,
    synced: {} as Synced,
    engine: {} as Engine,
    interruption: { stop: never, cut: never },
    failed: error => error,
  })
  return errands
}

const ask = (errands: Errands, carryOut: (means: Means) => Promise<unknown>, heard = hearing) =>
  errands.ask({ carryOut }, null, heard, never)

describe('errands', () => {
  it('are carried out one after the other', async () => {
    const errands = openErrands()
    const steps: string[] = []
    const slow = ask(errands, async () => {
      steps.push('first begins')
      await Promise.resolve()
      steps.push('first ends')
    })
    const quick = ask(errands, async () => steps.push('second'))
    expect(errands.asked.aborted).toBe(true)
    expect(steps).toEqual([])
    await errands.carryOut()
    expect(steps).toEqual(['first begins', 'first ends', 'second'])
    await Promise.all([slow, quick])
    expect(errands.asked.aborted).toBe(false)
  })

  it('that need a pass get a look at everything once, and wait until all is done', async () => {
    const errands = openErrands()
    let done = false
    const heard: PassEvent[] = []
    const asked = ask(
      errands,
      async means => {
        await means.pass({ pruneIgnored: true })
        done = true
      },
      { ...hearing, tell: told => void heard.push(told) },
    )
    await errands.carryOut()
    expect(errands.needs()).toEqual({ asked: true, everything: true, options: { pruneIgnored: true } })
    errands.tell({ event: 'album_created', album: 'a' })
    await errands.passed(report, false)
    expect(done).toBe(false)
    expect(errands.needs()).toEqual({ asked: true, everything: false, options: { pruneIgnored: true } })
    await errands.passed(report, true)
    expect(done).toBe(true)
    await asked
    errands.tell({ event: 'album_created', album: 'b' })
    expect(heard).toEqual([{ event: 'album_created', album: 'a' }])
    expect(errands.needs()).toEqual({ asked: false, everything: false, options: { pruneIgnored: false } })
  })

  it('that take long give way to others and to what has changed on the disk', async () => {
    const errands = openErrands()
    const steps: string[] = []
    const long = ask(errands, async means => {
      steps.push('long')
      expect(means.othersWait()).toBe(true)
      await means.giveWay()
      steps.push('long again')
    })
    const short = ask(errands, async () => steps.push('short'))
    await errands.carryOut()
    expect(steps).toEqual(['long', 'short'])
    // Any pass will do, however it ended.
    await errands.passed(report, false)
    expect(steps).toEqual(['long', 'short', 'long again'])
    await Promise.all([long, short])
    let waits = true
    errands.isBusy = () => true
    const alone = ask(errands, async means => {
      waits = means.othersWait()
    })
    await errands.carryOut()
    await alone
    expect(waits).toBe(true)
  })

  it('wait a moment where the daemon takes another config, and those begun are refused', async () => {
    const errands = openErrands()
    const begun = ask(errands, means => means.pass())
    await errands.carryOut()
    const refused = expect(begun).rejects.toMatchObject({ code: 'DAEMON_ENDED' })
    errands.leave(new NotNow('DAEMON_ENDED', 'another config'))
    await refused
    const later = ask(errands, async () => 'done')
    errands.open({ ...openErrands().workplace! })
    await errands.carryOut()
    expect(await later).toBe('done')
  })

  it('are dropped when whoever asked has gone before they were begun', async () => {
    const errands = openErrands()
    const leaving = new AbortController()
    let begun = false
    const carryOut = async () => {
      begun = true
    }
    void errands.ask({ carryOut }, null, hearing, leaving.signal)
    leaving.abort()
    await errands.carryOut()
    expect(begun).toBe(false)
  })

  it('whose state fails tell both who asked and the loop', async () => {
    const errands = openErrands()
    const full = new StateError('STATE_FULL', 'no room')
    const asked = expect(ask(errands, () => Promise.reject(full))).rejects.toBe(full)
    await expect(errands.carryOut()).rejects.toBe(full)
    await asked
    const refused = ask(errands, () => Promise.reject(new Error('no such thing')))
    const heard = expect(refused).rejects.toThrow('no such thing')
    await errands.carryOut()
    await heard
  })
})
