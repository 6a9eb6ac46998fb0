import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { type WorkerOptions, WorkerProcess } from '../../src/daemon/worker-process.ts'
import { tempFolder } from '../temp-folder.ts'

const MODULE = JSON.stringify(join(import.meta.dirname, '../../src/daemon/worker-process.ts'))

/** A process that does `work` with each task, which is a function's body. */
function setWorker(work: string, options: WorkerOptions = {}, before = '') {
  const file = join(tempFolder(), 'child.mjs')
  writeFileSync(
    file,
    `${before}\nconst { answerTasks } = await import(${MODULE})\nanswerTasks(async task => { ${work} })`,
  )
  const worker = new WorkerProcess<object, unknown>(pathToFileURL(file), options)
  onTestFinished(() => worker.stop())
  return worker
}

it('does one task after the other in one process, without this one’s environment', async () => {
  const worker = setWorker(
    'const n = globalThis.busy = (globalThis.busy ?? 0) + 1; await null; globalThis.busy--; return [process.pid, n, process.env, task]',
  )
  const answers = await Promise.all([1, 2, 3].map(n => worker.ask({ n })))
  const [pid] = answers[0] as [number]
  expect(pid).not.toBe(process.pid)
  expect(answers).toEqual([1, 2, 3].map(n => [pid, 1, {}, { n }]))
})

it('ends the process that has nothing to do, and starts another', async () => {
  const worker = setWorker('return process.pid', { idleMs: 0 })
  const pid = (await worker.ask({})) as number
  const isThere = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  await expect.poll(isThere, { timeout: 20_000 }).toBe(false)
  expect(await worker.ask({})).not.toBe(pid)
})

it('tells how the process failed, and goes on with the next task', async () => {
  const worker = setWorker('if (task.fails) throw new Error(); return task.n')
  const [failed, done] = await Promise.allSettled([worker.ask({ fails: true }), worker.ask({ n: 1 })])
  expect(failed).toMatchObject({ reason: { code: 'ended', message: 'exit 1' } })
  expect(done).toMatchObject({ value: 1 })
  const gone = new WorkerProcess<object, unknown>(pathToFileURL(join(tempFolder(), 'gone.mjs')))
  await expect(gone.ask({})).rejects.toMatchObject({ code: 'ended' })
})

it('works where a sandbox forbids it to be modest', async () => {
  // systemd's @resources has setpriority, and the service's unit refuses that.
  const refuse = `import os from 'node:os'
import { syncBuiltinESMExports } from 'node:module'
os.setPriority = () => { throw new Error('EPERM') }
syncBuiltinESMExports()`
  expect(await setWorker('return 1', {}, refuse).ask({})).toBe(1)
})

it('takes no more memory than it may', async () => {
  const worker = setWorker('return new Uint8Array(task.bytes).fill(1).length', { memory: 1.5 * 2 ** 20 })
  expect(await worker.ask({ bytes: 1000 })).toBe(1000)
  await expect(worker.ask({ bytes: 1.5 * 2 ** 30 })).rejects.toMatchObject({ code: 'ended' })
})
