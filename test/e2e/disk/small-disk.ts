import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A disk of a few megabytes, mounted where only the program sees it. */
export interface SmallDisk {
  /** A command that runs another one where the disk is mounted. */
  through: readonly string[]
  /** Takes all the room that is left. */
  fill(): void
  /** Gives back what `fill` took. */
  free(): void
  /** Copies the files that are on it to the folder below it, where this process sees them. */
  copyDown(): void
}

/** Mounts of one's own need root, or a user namespace; not every machine lets one make it. */
export function canMount(): boolean {
  return spawnSync('unshare', [...OWN, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
}

const OWN = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--map-root-user', '--mount']
const ENTER = process.getuid?.() === 0 ? ['--mount'] : ['--user', '--preserve-credentials', '--mount']

/** Puts the disk at `folder`. It goes with the test. */
export async function mountSmallDisk(folder: string, size: string): Promise<SmallDisk> {
  const { pid, through } = await mountWith(`mount -t tmpfs -o size=${size},mode=700 tmpfs "$0"`, folder)
  const onDisk = `/proc/${pid}/root${folder}`
  const ballast = join(onDisk, 'ballast')
  return {
    through,
    fill() {
      const file = openSync(ballast, 'a')
      try {
        for (const block = Buffer.alloc(4096); ; ) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast),
    copyDown() {
      for (const entry of readdirSync(onDisk, { withFileTypes: true }))
        if (entry.isFile()) copyFileSync(join(onDisk, entry.name), join(folder, entry.name))
    },
  }
}

/** Shows another folder of the same disk at `folder`. */
export function bindFolder(from: string, folder: string): Promise<Pick<SmallDisk, 'through'>> {
  return mountWith('mount --bind "$1" "$0"', folder, from)
}

/** Shows a folder's own content at `folder`, where nothing can be written. */
export function bindReadOnly(folder: string): Promise<Pick<SmallDisk, 'through'>> {
  return mountWith('mount --bind "$0" "$0" && mount -o remount,bind,ro "$0"', folder)
}

/** `command`: mounts at $0. */
async function mountWith(command: string, folder: string, ...more: string[]) {
  mkdirSync(folder, { recursive: true })
  const script = `${command} && echo mounted && exec cat`
  const child = spawn('unshare', [...OWN, 'sh', '-c', script, folder, ...more], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  // Entering leads to the root folder.
  const back = ['sh', '-c', 'cd "$0" && exec "$@"', join(folder, '..')]
  return { pid: child.pid, through: ['nsenter', '--target', String(child.pid), ...ENTER, ...back] }
}
