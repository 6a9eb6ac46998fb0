import { expect, it } from 'vitest'
import { Bus, type DaemonEvent } from '../../../src/daemon/events.ts'
import { runCommand } from '../../../src/daemon/notify/run-command.ts'
import { UploadCommand } from '../../../src/daemon/notify/upload-command.ts'
import { reading } from '../../../src/daemon/state/state.ts'
import { recordPictures } from '../recorded-pictures.ts'

const uploaded = (mirror: string, path: string) =>
  ({ event: 'picture_uploaded', mirror, path, size: 1, cdn_url: `https://cdn/${path}` }) as const

interface Stage {
  tell(path: string): void
  /** The config is read again. */
  listen(command: string | undefined): void
  ran: string[]
  notes: DaemonEvent[]
  said: Record<string, string>[]
  /** The most commands that ran at the same time. */
  most(): number
  stop: AbortController
  end(): Promise<void>
}

/** An upload command, and records of a/1.png. `answer` stands for the command: its problem, or null. */
async function stage(
  work: (stage: Stage) => Promise<void>,
  answer: (said: Record<string, string>, stop: AbortSignal) => Promise<string | null>,
  patienceMs?: number,
): Promise<void> {
  const { config } = await recordPictures([{ path: 'a/1.png', bytes: 'x' }])
  const notes: DaemonEvent[] = []
  const said: Record<string, string>[] = []
  let running = 0
  let most = 0
  const ran: string[] = []
  const run = async (text: string, told: Record<string, string>, stop: AbortSignal) => {
    said.push(told)
    ran.push(text)
    most = Math.max(most, ++running)
    try {
      return await answer(told, stop)
    } finally {
      running--
    }
  }
  const stop = new AbortController()
  const command = new UploadCommand(event => notes.push(event), stop.signal, true, run, patienceMs)
  await reading(config, async synced => {
    const bus = new Bus()
    let end = command.listen(bus, 'a command', synced)
    const listen = (text: string | undefined) => {
      end()
      end = command.listen(bus, text, synced)
    }
    const mirror = config.mirrors[0]!.folder
    const tellOf = (path: string) => bus.publish('pass', uploaded(mirror, path))
    const seen = { notes, said, ran, most: () => most }
    await work({ ...seen, tell: tellOf, listen, stop, end: () => command.end() })
    stop.abort()
    await command.end()
  })
}

it('runs for each picture, with its path, album, id and address', async () => {
  await stage(
    async ({ tell, said }) => {
      tell('a/1.png')
      tell('not/recorded.png')
      await expect.poll(() => said.length).toBe(2)
      expect(said[0]).toEqual({
        ALBUMD_PATH: expect.stringMatching(/\/pictures\/a\/1\.png$/),
        ALBUMD_ALBUM: '',
        ALBUMD_ID: 'id-0-a/1.png',
        ALBUMD_URL: 'https://cdn/a/1.png',
      })
      expect(said[1]).toMatchObject({ ALBUMD_ID: '', ALBUMD_URL: 'https://cdn/not/recorded.png' })
    },
    async () => null,
  )
})

it('runs for one picture at a time and in order, and leaves out the oldest when too many wait', async () => {
  await stage(
    async ({ tell, said, most, notes }) => {
      for (let n = 0; n < 10_050; n++) tell(`${n}.png`)
      await expect.poll(() => said.at(-1)?.ALBUMD_URL).toBe('https://cdn/10049.png')
      expect(most()).toBe(1)
      const numbers = said.map(({ ALBUMD_URL }) => Number(/(\d+)\.png/.exec(ALBUMD_URL!)![1]))
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      const left = 10_050 - said.length
      expect(left).toBeGreaterThan(0)
      expect(notes).toEqual([
        {
          event: 'upload_command_failed',
          path: null,
          message: expect.stringContaining(`so it was not run for ${left} picture`),
        },
      ])
    },
    async () => null,
  )
})

it('goes on after failures, and logs a failure that repeats once', async () => {
  await stage(
    async ({ tell, said, notes }) => {
      for (const path of ['1', '2', '3', '4', '5']) tell(path)
      await expect.poll(() => said.length).toBe(5)
      await expect.poll(() => notes.length).toBe(3)
      expect(notes).toMatchObject([
        { path: expect.any(String), message: 'it ended with 1' },
        { message: expect.stringContaining('null bytes') },
        { message: 'it ended with 1' },
      ])
    },
    async ({ ALBUMD_URL }, stop) => {
      if (ALBUMD_URL!.endsWith('/3'))
        return runCommand('true', { NAME: 'no environment holds this: \0' }, stop)
      return ALBUMD_URL!.endsWith('/4') ? null : 'it ended with 1'
    },
  )
})

it('ends a command that hangs, goes on with the next picture, and ends with albumd', async () => {
  await stage(
    async ({ tell, notes, said, stop, end }) => {
      tell('hangs')
      tell('next')
      await expect.poll(() => notes.length).toBe(1)
      expect(notes[0]).toMatchObject({ message: 'it took more than 0.2 s' })
      await expect.poll(() => said.length).toBe(2)
      tell('waits')
      tell('waits too')
      stop.abort()
      await end()
      expect(notes.at(-1)).toMatchObject({
        message: expect.stringMatching(/^albumd ended, so it was not run for [12] pictures?$/),
      })
    },
    ({ ALBUMD_URL }, stop) =>
      ALBUMD_URL!.endsWith('hangs')
        ? runCommand('sleep 600', {}, stop, 200)
        : runCommand('sleep 600', {}, stop),
  )
})

it('tells at the end how often it failed in a way that was told', async () => {
  await stage(
    async ({ tell, notes, said, end }) => {
      for (const path of ['1', '2', '3']) tell(path)
      await expect.poll(() => said.length).toBe(3)
      await end()
      expect(notes).toMatchObject([
        { message: 'it took more than 30 s' },
        { path: null, message: 'it failed in the same way for 2 more pictures' },
      ])
    },
    async () => 'it took more than 30 s',
  )
})

it('waits for one command that hangs at the end of albumd, and not for each of them', async () => {
  await stage(
    async ({ tell, notes, said, end }) => {
      for (const path of ['1', '2', '3']) tell(path)
      await end()
      expect(said).toHaveLength(1)
      expect(notes).toMatchObject([
        { message: 'it took more than 0.2 s' },
        { path: null, message: 'it hung, so it was not run for 2 pictures' },
      ])
    },
    (_, stop) => runCommand('sleep 600', {}, stop, 200),
    200,
  )
})

it('runs the command of a new config for the pictures that wait, and none where it has none', async () => {
  await stage(
    async ({ tell, listen, ran }) => {
      for (const path of ['1', '2', '3']) tell(path)
      listen('a mended command')
      await expect.poll(() => ran).toEqual(['a command', 'a mended command', 'a mended command'])
      for (const path of ['4', '5']) tell(path)
      listen(undefined)
      listen('another command')
      tell('6')
      await expect.poll(() => ran.slice(3)).toEqual(['a mended command', 'another command'])
    },
    async () => 'it hung',
  )
})
