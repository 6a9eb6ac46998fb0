import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  filesBelow,
  giveToUser,
  hashesBelow,
  mountEmpty,
  NOBODY,
  type Place,
  picture,
  put,
  unmount,
} from './place.ts'

/** Something that happens to the pictures on the local side. */
export interface Accident {
  says: string
  /** Half of the pictures lie on a disk of their own. */
  mounted?: true
  /** Only root can make it happen: it mounts, or closes a folder to the tool's user. */
  asRoot?: true
  /** The tool's state is lost while it is stopped, and `happens` is called then. */
  losesState?: true
  /** The tool is killed again and again during its first mirroring. */
  kills?: true
  /** Pictures come that must be on the other side in the end. */
  adds?: true
  /** It goes on while the tool runs; a tool that makes passes is not stopped for it. */
  slowly?: true
  happens(place: Place): void | Promise<void>
}

const away = ({ pictures }: Place) => `${pictures}.away`
const disk = ({ pictures }: Place) => join(pictures, 'Disk')
/** A slow accident touches a picture each time that this has passed. */
const SLOWLY_MS = 250

export const ACCIDENTS: readonly Accident[] = [
  { says: 'the root folder vanishes', happens: place => renameSync(place.pictures, away(place)) },
  {
    says: 'an empty disk is mounted over the root',
    asRoot: true,
    happens: place => mountEmpty(place.pictures),
  },
  {
    says: 'the root is an empty folder: its disk is not mounted',
    happens(place) {
      renameSync(place.pictures, away(place))
      mkdirSync(place.pictures)
      giveToUser(place.pictures)
    },
  },
  {
    says: 'a disk below the root, with half of the pictures, is unmounted',
    mounted: true,
    asRoot: true,
    happens: place => unmount(disk(place)),
  },
  {
    says: 'an empty disk is mounted over a folder with half of the pictures',
    asRoot: true,
    happens: place => mountEmpty(disk(place)),
  },
  {
    says: 'another disk is mounted where the disk with half of the pictures was',
    mounted: true,
    asRoot: true,
    happens(place) {
      unmount(disk(place))
      mountEmpty(disk(place))
      copy(join(place.other, 'Card'), disk(place))
    },
  },
  {
    says: 'a clone of that disk is mounted there, with rotten bytes: same names, sizes and times',
    mounted: true,
    asRoot: true,
    happens(place) {
      const files = filesBelow(place.disk!).map(path => ({
        path,
        at: statSync(join(place.disk!, path)).mtimeMs,
      }))
      unmount(disk(place))
      mountEmpty(disk(place))
      for (const { path, at } of files) put(join(disk(place), path), picture(), at)
      giveToUser(disk(place))
    },
  },
  {
    says: "another disk's pictures are at the root",
    happens(place) {
      renameSync(place.pictures, away(place))
      renameSync(place.other, place.pictures)
    },
  },
  {
    says: 'another disk with pictures is mounted over the root',
    asRoot: true,
    happens(place) {
      mountEmpty(place.pictures)
      copy(place.other, place.pictures)
    },
  },
  {
    says: 'an older copy of the disk is at the root: 80 pictures are not on it yet',
    happens(place) {
      renameSync(place.pictures, away(place))
      mkdirSync(place.pictures)
      copy(away(place), place.pictures)
      remove(place, 80)
    },
  },
  { says: 'the root is unreadable', asRoot: true, happens: ({ pictures }) => close(pictures) },
  {
    says: 'a folder with half of the pictures is unreadable',
    asRoot: true,
    happens: place => close(disk(place)),
  },
  { says: '90 % of the pictures are deleted', happens: place => remove(place, 180) },
  { says: '22 % of the pictures are deleted: below every limit', happens: place => remove(place, 45) },
  {
    says: '90 % of the pictures are deleted, one after another',
    slowly: true,
    async happens(place) {
      for (const path of mixed(place).slice(0, 180)) {
        rmSync(join(place.pictures, path))
        await sleep(SLOWLY_MS)
      }
    },
  },
  { says: 'all pictures are overwritten by random bytes', happens: place => overwrite(place, randomBytes) },
  {
    says: 'all pictures are encrypted: random bytes, named .locked',
    happens(place) {
      overwrite(place, randomBytes)
      for (const path of filesBelow(place.pictures))
        renameSync(join(place.pictures, path), join(place.pictures, `${path}.locked`))
    },
  },
  {
    says: 'all pictures are overwritten by other pictures: a batch edit gone wrong',
    happens: place => overwrite(place, picture),
  },
  {
    says: 'all pictures are overwritten by other pictures, one after another',
    slowly: true,
    async happens(place) {
      for (const path of mixed(place)) {
        put(join(place.pictures, path), picture())
        await sleep(SLOWLY_MS)
      }
    },
  },
  { says: 'all pictures are emptied: 0 bytes', happens: place => overwrite(place, () => Buffer.alloc(0)) },
  { says: "the tool's state is lost", losesState: true, happens() {} },
  {
    says: "the tool's state is lost, and 10 pictures were moved meanwhile",
    losesState: true,
    happens(place) {
      for (const path of mixed(place).slice(0, 10))
        renameSync(
          join(place.pictures, path),
          join(place.pictures, 'F1', `moved ${path.replaceAll('/', ' ')}`),
        )
    },
  },
  { says: 'SIGKILL ten times during the first mirroring', kills: true, happens() {} },
  {
    says: 'ten writers pause for 3 s in the middle of a picture',
    adds: true,
    slowly: true,
    async happens({ pictures }) {
      const written = Array.from({ length: 10 }, (_, n) => ({
        path: join(pictures, 'F1', `new ${n}.bmp`),
        bytes: picture(),
      }))
      for (const { path, bytes } of written) {
        put(path, bytes.subarray(0, 600))
        giveToUser(path)
      }
      await sleep(3000)
      for (const { path, bytes } of written) appendFileSync(path, bytes.subarray(600))
    },
  },
  {
    says: 'the whole tree is one folder deeper',
    happens(place) {
      const deeper = join(place.pictures, '2025')
      mkdirSync(deeper)
      giveToUser(deeper)
      for (const name of ['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'Disk'])
        renameSync(join(place.pictures, name), join(deeper, name))
    },
  },
]

/** Only root may look into it. */
function close(folder: string): void {
  chownSync(folder, 0, NOBODY)
  chmodSync(folder, 0o700)
}

/** With times and owners. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', `${from}/.`, to])
}

function remove(place: Place, count: number): void {
  for (const path of mixed(place).slice(0, count)) rmSync(join(place.pictures, path))
}

/** In place, as their owner would. */
function overwrite({ pictures }: Place, bytes: (size: number) => Buffer): void {
  for (const path of filesBelow(pictures)) {
    const file = join(pictures, path)
    writeFileSync(file, bytes(statSync(file).size))
  }
}

/** All pictures, in an order that has nothing to do with their folders. */
function mixed({ pictures }: Place): string[] {
  return [...hashesBelow(pictures)].sort(([, one], [, other]) => (one < other ? -1 : 1)).map(([path]) => path)
}
