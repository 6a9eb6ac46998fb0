import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { randomPicture } from '../trees/picture-set.ts'

/** The ordinary user that every tool runs as where this process is root. */
export const NOBODY = 65_534
export const isRoot = process.getuid?.() === 0

/** Where one cell of the table is played. */
export interface Place {
  /** All of it. */
  at: string
  /** What is mirrored. */
  pictures: string
  /** Another disk, with 200 other pictures. */
  other: string
  /** A disk with half of the pictures, which is mounted below `pictures`; null when they lie there themselves. */
  disk: string | null
  /** The remote side of tools that copy into a folder, and where they keep older versions. */
  remote: string
  versions: string
  /** The tool's own: config, state, logs. */
  home: string
}

/** A folder for each of twelve lots: six at the root, six in and below `Disk`. */
const FOLDERS = [
  'F1',
  'F2',
  'F3',
  'F4',
  'F5',
  'F6',
  'Disk',
  'Disk/D1',
  'Disk/D2',
  'Disk/D3',
  'Disk/D4',
  'Disk/D5',
]
export const PICTURES = 200

export function makePlace(at: string, mounted: boolean): Place {
  const place: Place = {
    at,
    pictures: join(at, 'local/pictures'),
    other: join(at, 'local/other'),
    disk: mounted ? join(at, 'disk') : null,
    remote: join(at, 'remote'),
    versions: join(at, 'versions'),
    home: join(at, 'home'),
  }
  for (const each of [place.pictures, place.other, place.remote, place.versions, place.home])
    mkdirSync(each, { recursive: true })
  if (place.disk) {
    for (const each of [place.disk, join(place.pictures, 'Disk')]) mkdirSync(each)
    mountEmpty(place.disk)
    execFileSync('mount', ['--bind', place.disk, join(place.pictures, 'Disk')])
  }
  for (let n = 0; n < PICTURES; n++) {
    const folder = FOLDERS[Math.floor((n * FOLDERS.length) / PICTURES)]!
    const name = `IMG_${String(n).padStart(4, '0')}.bmp`
    // Taken an hour after each other, and those of the other disk a year later.
    put(join(place.pictures, folder, name), picture(), Date.UTC(2021, 4, 1, n))
    put(join(place.other, folder.replace('Disk', 'Card'), name), picture(), Date.UTC(2022, 4, 1, n))
  }
  giveToUser(at)
  return place
}

/** Another one each time, and all of one length. */
export function picture(): Buffer {
  return randomPicture(16, 24)
}

export function put(path: string, bytes: Buffer, changedAt = Date.now()): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
  utimesSync(path, new Date(changedAt), new Date(changedAt))
}

export function giveToUser(path: string): void {
  if (isRoot) execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, path])
}

export function mountEmpty(at: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=755', 'accident', at])
  giveToUser(at)
}

/** As a disk that is pulled out: also while a program has a folder of it open. */
export function unmount(at: string): void {
  execFileSync('umount', ['--lazy', at])
}

export function unmountBelow(at: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const paths = mounts.map(line => line.split(' ')[1] ?? '').filter(path => path.startsWith(`${at}/`))
  for (const path of paths.reverse()) unmount(path)
}

/** The paths of all files below `root`, without hidden names. What can't be read is left out. */
export function filesBelow(root: string, folder = ''): string[] {
  try {
    return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(entry => {
      const path = join(folder, entry.name)
      if (entry.name.startsWith('.')) return []
      return entry.isDirectory() ? filesBelow(root, path) : [path]
    })
  } catch {
    return []
  }
}

/** The hashes of all files below `root`, by their paths. */
export function hashesBelow(root: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const path of filesBelow(root))
    try {
      found.set(path, hashOf(readFileSync(join(root, path))))
    } catch {
      // It has gone since, or may not be read.
    }
  return found
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
