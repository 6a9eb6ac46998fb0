import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { daemonHere, startAlbumd } from '../stage/process.ts'
import { type Stage, setStage, sha256 } from '../stage/stage.ts'
import { bindFolder, canMount } from './small-disk.ts'

const red = png(3, 2, 10).bytes
const blue = png(3, 2, 20).bytes

/** A mirror with three pictures, all below folders, that lies in a folder of its own. */
async function synced() {
  const stage = await setStage({ mirror: { folder: 'above/pictures' } })
  const root = join(stage.home, 'above/pictures')
  renameSync(stage.pictures, join(stage.home, 'aside'))
  mkdirSync(dirname(root))
  renameSync(join(stage.home, 'aside'), root)
  for (const path of ['a/1.png', 'b/c/2.png', 'b/c/3.png']) stage.write(join('../above/pictures', path), red)
  expect(await stage.here('sync')).toMatchObject({ code: 0 })
  const away = join(stage.home, 'away')
  renameSync(dirname(root), away)
  return { stage, root, away }
}

/** The daemon, once it has guarded the mirror. `through`: it is a process of its own, run through that command. */
async function guarded(stage: Stage, through: readonly string[] = []) {
  const daemon = through.length > 0 ? startAlbumd(stage, ['run'], { through }) : await daemonHere(stage)
  const times = (event: string) => daemon.out().split(`"event":"${event}"`).length - 1
  /** Less than the minute after which a guarded mirror is looked at without an event. */
  const told = (event: string, count = 1) =>
    expect.poll(() => times(event), { interval: 20 }).toBeGreaterThanOrEqual(count)
  await told('mirror_guarded')
  return { told, uploads: () => times('picture_uploaded'), daemon }
}

type Act = (root: string, away: string) => void

describe('a root that comes back after the daemon has started', () => {
  it.each<[string, Act, Act]>([
    [
      'by a move to its place',
      root => mkdirSync(dirname(root)),
      (root, away) => renameSync(join(away, 'pictures'), root),
    ],
    ['with the folder above it', () => {}, (root, away) => renameSync(away, dirname(root))],
    [
      'by a move over an empty one',
      root => mkdirSync(root, { recursive: true }),
      (root, away) => renameSync(join(away, 'pictures'), root),
    ],
    [
      'with another folder above it, where it was empty',
      root => mkdirSync(root, { recursive: true }),
      (root, away) => {
        rmSync(dirname(root), { recursive: true })
        renameSync(away, dirname(root))
      },
    ],
  ])('%s is noticed by that, and watched', async (_, leave, comeBack) => {
    const { stage, root, away } = await synced()
    leave(root, away)
    const { told, daemon } = await guarded(stage)
    comeBack(root, away)
    await told('scan_finished')
    stage.write('../above/pictures/b/c/new.png', blue)
    await told('picture_uploaded')
    daemon.kill('SIGTERM')
    expect(await daemon.ended).toMatchObject({ code: 0 })
    expect(await stage.delivered()).toEqual({
      'Photos/a/1.png': sha256(red),
      'Photos/b/c/2.png': sha256(red),
      'Photos/b/c/3.png': sha256(red),
      'Photos/b/c/new.png': sha256(blue),
    })
  })

  it('by mkdir and its pictures one by one is noticed after the last of them', async () => {
    const { stage, root, away } = await synced()
    const before = await stage.listing()
    const { told, uploads } = await guarded(stage)
    mkdirSync(root, { recursive: true })
    // The folder is noticed, empty as it is, and guarded again.
    await told('mirror_guarded', 2)
    for (const folder of ['a', 'b/c']) mkdirSync(join(root, folder), { recursive: true })
    for (const name of ['b/c/2.png', 'b/c/3.png', 'a/1.png'])
      renameSync(join(away, 'pictures', name), join(root, name))
    await told('scan_finished')
    expect(uploads()).toBe(0)
    expect(await stage.listing()).toEqual(before)
  })
})

describe.skipIf(!canMount() && !process.env.CI)('a root that is mounted after the daemon has started', () => {
  it.each([
    ['at the root', 'pictures'],
    ['above the root', ''],
  ])('%s is noticed by that, and watched', async (_, below) => {
    const { stage, root, away } = await synced()
    mkdirSync(root, { recursive: true })
    // Another mount, so that there is a namespace to mount in.
    const { through } = await bindFolder(away, join(stage.home, 'mounted'))
    const { told, daemon } = await guarded(stage, through)
    const [enter, ...args] = through as [string, ...string[]]
    const from = join(away, below)
    execFileSync(enter, [...args, 'mount', '--bind', from, join(dirname(root), below)])
    await told('scan_finished')
    stage.write('../away/pictures/b/c/new.png', blue)
    await told('picture_uploaded')
    daemon.kill('SIGTERM')
    await daemon.ended
    expect(await stage.paths()).toContain('Photos/b/c/new.png')
  })
})
