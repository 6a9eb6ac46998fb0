import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/config/schema.ts'
import { Refused } from '../../../src/daemon/commands/command.ts'
import { CommandQueue, type Session } from '../../../src/daemon/commands/queue.ts'
import { askDaemon } from '../../../src/daemon/control/client.ts'
import { controlApp, serveControl } from '../../../src/daemon/control/server.ts'
import type { Engine } from '../../../src/daemon/engine/engine.ts'
import { pauseAt } from '../../../src/daemon/state/pause.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { parse, SHORTEST } from '../../config/config-text.ts'
import { tempFolder } from '../../temp-folder.ts'

const never = new AbortController().signal
const NO_CONFIG: Config = { ...parse(SHORTEST), mirrors: [], state_dir: '/s' }
const output = { emit() {}, say() {}, progress() {}, begun() {} }

/** A control socket with a command queue. The tests do the work of the daemon's loop. */
async function serve(below = '') {
  const folder = join(tempFolder(), below)
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'control.sock')
  const synced = openSynced(openDatabase(':memory:'))
  const queue = new CommandQueue()
  const what: string[] = []
  const open = () =>
    queue.open({
      config: NO_CONFIG,
      synced,
      engine: null as unknown as Engine,
      interruption: { stop: never, cut: never },
      loop: null as unknown as Session['loop'],
      failed: error => error,
    })
  const start = async () => {
    const app = controlApp(queue, name => what.push(name))
    const closeControl = await serveControl(app, file)
    let closed: Promise<void> | null = null
    const close = () => {
      closed ??= closeControl()
      return closed
    }
    onTestFinished(close)
    return close
  }
  return { file, synced, queue, what, open, start }
}

type Served = Awaited<ReturnType<typeof serve>>

/** Sends a command as another albumd would. */
async function post({ file }: Served, path: string, body: string): Promise<unknown> {
  const dispatcher = new Agent({ connect: { socketPath: file } })
  onTestFinished(() => dispatcher.close())
  const headers = { 'content-type': 'application/json' }
  const answer = await request(`http://albumd${path}`, { method: 'POST', headers, body, dispatcher })
  return answer.body.json()
}

const discard = ({ file }: Served, leave = never, heard = output) =>
  askDaemon(file, NO_CONFIG, 'deletions', { action: 'discard' }, heard, leave)

describe('the control socket', () => {
  it('finds no daemon where no socket or a dead one exists, and a daemon replaces the dead one', async () => {
    const served = await serve()
    expect(await discard(served)).toBeNull()
    writeFileSync(served.file, '')
    expect(await discard(served)).toBeNull()
    served.open()
    const close = await served.start()
    expect(statSync(served.file).mode & 0o777).toBe(0o600)
    const asked = discard(served)
    await once(served.queue.asked, 'abort')
    await served.queue.carryOut()
    expect(await asked).toEqual({ done: { decided: [] } })
    await close()
    expect(existsSync(served.file)).toBe(false)
    expect(await discard(served)).toBeNull()
  })

  it('is missing where its path is too long for a socket', async () => {
    const served = await serve('a-folder-with-a-long-name/'.repeat(8))
    await expect(served.start()).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('has commands carried out between passes, and a pause at once', async () => {
    const served = await serve()
    served.open()
    await served.start()
    let done = false
    const asked = discard(served).then(() => {
      done = true
    })
    await once(served.queue.asked, 'abort')
    await askDaemon(served.file, NO_CONFIG, 'pause', { forMs: null }, output, never)
    expect(pauseAt(served.synced, Date.now())).toEqual({ until: null })
    expect(done).toBe(false)
    await served.queue.carryOut()
    await asked
    expect(served.queue.asked.aborted).toBe(false)
    expect(served.what).toEqual(['deletions', 'pause'])
  })

  it('refuses another config, a wrong request and another version, each with one line', async () => {
    const served = await serve()
    served.open()
    await served.start()
    const other = { ...NO_CONFIG, mirrors: [{ folder: '/x' }] } as unknown as Config
    const refused = askDaemon(served.file, other, 'deletions', { action: 'discard' }, output, never).catch(
      error => error,
    )
    // A command that waits would end the pass under way.
    const waits = once(served.queue.asked, 'abort')
    expect(await Promise.race([refused, waits])).toMatchObject({ code: 'OTHER_CONFIG' })
    const wrong = { action: 'list' } as unknown as { action: 'discard' }
    await expect(askDaemon(served.file, NO_CONFIG, 'deletions', wrong, output, never)).rejects.toMatchObject({
      code: 'NOT_UNDERSTOOD',
      message: expect.not.stringContaining('\n'),
    })
    const body = JSON.stringify({ version: '0.0.0-other', config: '', request: {} })
    expect(await post(served, '/commands/resume', body)).toEqual({
      code: 'OTHER_VERSION',
      message: expect.stringMatching(
        /^the albumd that runs is .*, this is 0\.0\.0-other; stop the one that runs/,
      ),
    })
    expect(served.what).toEqual([])
  })

  it('drops a command that has not begun when its client disconnects', async () => {
    const served = await serve()
    served.open()
    await served.start()
    const leaving = new AbortController()
    const left = expect(discard(served, leaving.signal)).rejects.toMatchObject({
      code: 'LEFT',
      message: expect.stringContaining('so it is not done'),
    })
    await once(served.queue.asked, 'abort')
    leaving.abort()
    await left
    let begun = false
    const second = discard(served, never, {
      ...output,
      begun() {
        begun = true
      },
    })
    await expect.poll(() => served.what).toHaveLength(2)
    await served.queue.carryOut()
    expect(await second).toEqual({ done: { decided: [] } })
    expect(begun).toBe(true)
  })

  it('has no command of a client that left while the daemon slept', async () => {
    const { file } = await serve()
    const heard: string[] = []
    const sleeping = createServer(socket => socket.on('data', data => heard.push(String(data)))).listen(file)
    onTestFinished(() => void sleeping.close())
    await once(sleeping, 'listening')
    const leaving = new AbortController()
    const left = expect(
      askDaemon(file, NO_CONFIG, 'pause', { forMs: null }, output, leaving.signal),
    ).rejects.toMatchObject({ code: 'LEFT' })
    const [socket] = (await once(sleeping, 'connection')) as [Socket]
    await once(socket, 'data')
    leaving.abort()
    await left
    await once(socket, 'close')
    expect(heard.join('')).toMatch(/^POST \/commands\/pause [\s\S]*\r\n\r\n$/)
  })

  it('says that the daemon ended when the connection closes before an answer', async () => {
    const { file } = await serve()
    const ending = createServer(connection => void connection.destroy())
    ending.listen(file)
    await once(ending, 'listening')
    onTestFinished(() => void ending.close())
    const asked = askDaemon(file, NO_CONFIG, 'resume', {}, output, never)
    await expect(asked).rejects.toMatchObject({ code: 'DAEMON_ENDED' })
  })

  it('tells waiting clients why the daemon ends', async () => {
    const served = await serve()
    await served.start()
    const asked = expect(discard(served)).rejects.toMatchObject({ code: 'DAEMON_ENDED', message: 'it ends' })
    await expect.poll(() => served.what).toHaveLength(1)
    served.queue.close(new Refused('DAEMON_ENDED', 'it ends'))
    await asked
  })
})
