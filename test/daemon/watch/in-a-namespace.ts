/** Tests that need other limits and mounts. Run by `unshare --user --map-root-user --mount`, with the
 * name of the act and an empty folder. Prints what it saw as JSON. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readMounts } from '../../../src/local/mount-table.ts'
import { watchMirror } from './watched-mirror.ts'

const MINUTE = 60_000
/** How often mounts are looked for. */
const MOUNTS = 20_000
const [act, root] = process.argv.slice(2) as ['limit' | 'mount' | 'mount-below', string]

function limitWatches(to: number): void {
  writeFileSync('/proc/sys/user/max_inotify_watches', `${to}`)
}

async function limit(): Promise<unknown> {
  // The root's watch and 20 more, beside those of the folders above the root.
  limitWatches(21 + root.split('/').length - 1)
  const folders = ['', ...Array.from({ length: 40 }, (_, n) => `${n}`.padStart(2, '0'))]
  const mirror = watchMirror(root, folders)
  const { clock, watcher, told, heard, state, said } = mirror
  watcher.follow()
  await told(...folders.slice(1))
  const limited = state()
  await clock.pass(MINUTE)
  await told('39')
  limitWatches(1000)
  await clock.pass(MINUTE)
  await told('38', '39')
  const mended = state()
  heard()
  writeFileSync(join(root, '39/y.png'), '')
  await told('39')
  await mirror.close()
  return { limited, mended, said }
}

/** `folder`: the mount point, below the root. */
async function mount(folder: string): Promise<unknown> {
  const mirror = watchMirror(root, ['', 'a', 'a/b'], { mounts: readMounts })
  const { clock, watcher, told, next, heard } = mirror
  const at = join(root, folder)
  const all = folder === '' ? ['everything'] : ['', folder]
  // Watches are opened anew one after the other, and this folder's is the last.
  const renewed = () => next('a/b')
  const lookedAtMounts = async () => {
    const last = renewed()
    await Promise.all([clock.pass(MOUNTS), told(...all)])
    await last
    heard()
  }
  watcher.follow()
  await told('a', 'a/b')
  // The second mount comes before the list of mounts is read by the clock, and the kernel gives it the id of the first.
  for (const name of ['first.png', 'second.png']) {
    execFileSync('mount', ['-t', 'tmpfs', 'none', at])
    await lookedAtMounts()
    writeFileSync(join(at, name), '')
    await told(folder)
    // The end of a mounted folder is an event of its own.
    const ended = renewed()
    execFileSync('umount', [at])
    await ended
    heard()
  }
  writeFileSync(join(root, 'a/b/x.png'), '')
  await told('a/b')
  await clock.pass(MOUNTS)
  const calm = heard()
  await mirror.close()
  return { calm }
}

const acts = { limit, mount: () => mount(''), 'mount-below': () => mount('a') }
process.stdout.write(JSON.stringify(await acts[act]()))
