import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Lock, lockState } from '../../../src/synced/lock.ts'
import { png } from '../../pictures.ts'
import { type DaemonProcess, type Process, startAlbumd, startDaemon } from '../stage/process.ts'
import { type Stage, setStage } from '../stage/stage.ts'

/** A stage whose state this process has, as a command has it. */
async function lockedStage(): Promise<{ stage: Stage; lock: Lock }> {
  const stage = await setStage()
  mkdirSync(join(stage.home, 'state'))
  return { stage, lock: lockState(join(stage.home, 'state/lock.db')) }
}

const WAITS = new RegExp(
  `Another albumd \\(pid ${process.pid}\\) is at work here\\. Waiting for its end, at most 10 s`,
)

const isToldToWait = (put: Process) => expect.poll(put.err).toMatch(WAITS)
const runWaits = async (daemon: DaemonProcess) =>
  expect(await daemon.told('warning')).toMatchObject({ msg: expect.stringMatching(WAITS) })

describe('commands that meet at the state', () => {
  it('queue, and none sends what another has sent', async () => {
    const stage = await setStage()
    const names = ['1.png', '2.png', 'same.png', 'same.png']
    for (const [n, name] of names.entries()) stage.write(name, png(3 + n, 2).bytes)
    const runs = await Promise.all(names.map(name => stage.albumd('put', name)))
    for (const { code, err } of runs) expect(code, err).toBe(0)
    expect(new Set(runs.slice(2).map(({ out }) => out)).size).toBe(1)
    expect(await stage.paths()).toEqual(['1', '2', 'same'].map(name => `Photos/${name}.png`))
  })

  it('wait for one that ends', async () => {
    const { stage, lock } = await lockedStage()
    stage.write('a.png', png(3, 2).bytes)
    const put = startAlbumd(stage, ['put', 'a.png'])
    await isToldToWait(put)
    lock.release()
    expect(await put.ended).toMatchObject({ code: 0 })
    expect(put.err().trimEnd().split('\n')).toHaveLength(1)
    expect(await stage.paths()).toEqual(['Photos/a.png'])
  })

  it('are waited for when run starts', async () => {
    const { stage, lock } = await lockedStage()
    const daemon = startDaemon(stage)
    await runWaits(daemon)
    lock.release()
    await daemon.told('scan_finished')
    expect(await daemon.stop()).toBe(0)
  })

  it('end at once when a person ends the wait, and run ends as ever', async () => {
    const { stage, lock } = await lockedStage()
    stage.write('a.png', png(3, 2).bytes)
    const put = startAlbumd(stage, ['put', 'a.png'])
    const sync = startAlbumd(stage, ['sync'])
    const daemon = startDaemon(stage)
    await Promise.all([isToldToWait(put), runWaits(daemon)])
    await expect.poll(sync.err).toMatch(WAITS)
    sync.kill('SIGINT')
    expect(await sync.ended).toMatchObject({ code: 3 })
    expect(sync.err()).toMatch(/albumd: Stopped while another albumd \(pid \d+\) was at work here/)
    put.kill('SIGINT')
    // A person stopped it, so it ends as every put that is interrupted.
    expect(await put.ended).toMatchObject({ code: 3 })
    expect(put.err()).toMatch(/stopping\n.*a\.png: interrupted; /)
    expect(await daemon.stop()).toBe(0)
    lock.release()
    expect(await stage.paths()).toEqual([])
  })
})
