import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { png } from '../../pictures.ts'
import { PROGRAM, runHere } from '../stage/stage.ts'

const SAMPLES = join(import.meta.dirname, '../../../src/cli/try/pictures')

function home(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'albumd-try-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A trial as its own process, with what it says. */
function startTrial(cwd: string, ...args: string[]) {
  return start(cwd, process.execPath, [PROGRAM, 'try', ...args])
}

function start(cwd: string, program: string, args: string[]) {
  const child = spawn(program, args, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: cwd, npm_lifecycle_event: 'start' },
  })
  let out = ''
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    out += chunk
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return {
    said: (text: string) => expect.poll(() => out).toContain(text),
    out: () => out,
    stop: () =>
      new Promise<number | null>(resolve => {
        child.once('exit', resolve)
        child.kill('SIGINT')
      }),
  }
}

describe('try', () => {
  it('mirrors the samples, follows what is added and deleted, stops cleanly, and goes on where it was', async () => {
    const cwd = home()
    const trial = startTrial(cwd)
    await trial.said('17 of 17 pictures on the host')
    await trial.said('Left out: 1 (1 TXT). "npx albumd ls --left-out -c albumd-try/samples/albumd.yaml"')
    await trial.said('Ctrl-C')
    const last = trial.out().trimEnd().split('\n').slice(-5)
    expect(last.map(line => line.trim().split(/ +/)[0])).toEqual(['', 'page', 'picture', 'try', 'stop'])
    expect(trial.out()).not.toContain('not there')
    const [, page] = /page {5}(http:\/\/127\.0\.0\.1:\d+\/)\n/.exec(trial.out()) ?? []
    const pictures = join(cwd, 'albumd-try/samples/pictures')
    mkdirSync(join(pictures, 'New/Deep'), { recursive: true })
    cpSync(join(SAMPLES, 'Icons/Kite.svg'), join(pictures, 'New/Deep/Kite.svg'))
    await trial.said('uploaded New/Deep/Kite.svg')
    expect(await (await fetch(page!)).text()).toContain('New/Deep/Kite.svg')
    rmSync(join(pictures, 'Icons/Sun.ico'))
    await trial.said('deleted the image of Icons/Sun.ico')
    renameSync(pictures, `${pictures} away`)
    await trial.said('guarded: ')
    renameSync(`${pictures} away`, pictures)
    await trial.said('over: nothing is guarded or held any more')
    expect(await trial.stop()).toBe(0)
    const config = join(cwd, 'albumd-try/samples/albumd.yaml')
    const { out } = await runHere(['status', '--json', '--config', config], cwd)
    expect(JSON.parse(out)).toMatchObject({
      running: false,
      mirrors: [{ files: 17, synced: 17, pending_deletions: 0 }],
    })
    const again = startTrial(cwd)
    await again.said('17 of 17 pictures on the host')
    expect(again.out()).not.toContain('uploaded ')
    expect(await again.stop()).toBe(0)
  })

  it('never changes the folder that it is given, and writes nothing beside albumd-try', async () => {
    const cwd = home()
    const own = join(home(), 'My pictures')
    cpSync(SAMPLES, own, { recursive: true })
    const before = readdirSync(own, { recursive: true }).sort()
    const trial = startTrial(cwd, own)
    await trial.said('17 of 17 pictures on the host')
    expect(await trial.stop()).toBe(0)
    // Nobody is asked to delete a picture of one's own.
    expect(trial.out()).toMatch(/add a picture to \S+/)
    expect(trial.out()).not.toContain('delete one')
    expect(readdirSync(own, { recursive: true }).sort()).toEqual(before)
    expect(readdirSync(cwd)).toEqual(['albumd-try'])
  })

  it.skipIf(!existsSync('/usr/bin/script') && !process.env.CI)(
    'works on a terminal of no columns',
    async () => {
      const trial = start(home(), 'script', [
        '-qec',
        `exec '${process.execPath}' '${PROGRAM}' try`,
        '/dev/null',
      ])
      await trial.said('17 of 17 pictures on the host')
      expect(trial.out().length).toBeLessThan(10_000)
      await trial.stop()
    },
  )

  it("mirrors one's own folder under its own name, whatever it is called", async () => {
    const cwd = home()
    const own = join(home(), 'pictures')
    cpSync(join(SAMPLES, 'Icons'), own, { recursive: true })
    writeFileSync(join(own, 'broken.png'), 'no picture')
    mkdirSync(join(own, 'Misc'))
    writeFileSync(join(own, 'Misc/half.png'), png(40, 30).bytes.subarray(0, 600))
    const misnamed = Buffer.concat([Buffer.from(`${own}/`), Buffer.from([0xff]), Buffer.from('.png')])
    writeFileSync(misnamed, png(2, 2).bytes)
    const trial = startTrial(cwd, own)
    await trial.said('3 of 5 pictures on the host')
    await trial.said('Left: 1 to upload, 2 failed. "npx albumd status -c ')
    for (const line of ['waits Misc/half.png', 'pictures in 2 folders\n'])
      expect(trial.out().split(line), line).toHaveLength(2)
    expect(await trial.stop()).toBe(0)
    const [trialName] = readdirSync(join(cwd, 'albumd-try'))
    const config = join(cwd, 'albumd-try', trialName!, 'albumd.yaml')
    const { out } = await runHere(['status', '--json', '--config', config], cwd)
    expect(JSON.parse(out).mirrors).toMatchObject([{ folder: own, album: 'pictures' }])
  })

  it('refuses a folder that is not there, or that holds the trial itself', async () => {
    const cwd = home()
    expect(await runHere(['try', 'nowhere'], cwd)).toMatchObject({ code: 2 })
    for (const folder of ['.', '..', '/'])
      expect(await runHere(['try', folder], cwd)).toMatchObject({ code: 2 })
    expect(existsSync(join(cwd, 'albumd-try'))).toBe(false)
  })
})
