import { RESTORE_FOLDER } from '../../../src/local/look.ts'
import { IGNORE_FILE } from '../disk/live-pictures.ts'
import { halfOf, isHalf, nameOfBytes, noted, withOtherFact } from '../disk/tiny-picture.ts'
import { type FolderNode, split } from '../disk/tree.ts'
import { folderAt } from '../engine/state-kit.ts'
import type { World } from '../engine/world.ts'
import type { ActionKind } from '../histories/history.ts'
import { FOLDERS, make, NAMES, onFile, pictureOf, placeOf } from './locations.ts'
import { MANY_PICTURES } from './many-pictures.ts'
import { WRITERS } from './writers.ts'

/** What people do with files. Each answers what it did, for other people. */
export const ACTIONS: Partial<Record<ActionKind, (world: World, a: number, b: number) => string>> = {
  add: (world, a, b) => put(world, placeOf(world, a), pictureOf(world, b)),
  change: (world, a, b) => onFile(world, a, path => put(world, path, pictureOf(world, b))),
  changeInPlace: (world, a, b) =>
    onFile(world, a, path => {
      world.disk.write(path, pictureOf(world, b), { inPlace: true })
      return `${path} is written over with ${nameOfBytes(pictureOf(world, b))}`
    }),
  editNote: (world, a, b) =>
    onFile(world, a, path => {
      const bytes = noted(world.tree.fileAt(path)!.bytes, 10 + (b % 5))
      world.disk.write(path, bytes, { inPlace: b % 2 === 0 })
      return `the metadata of ${path} are edited`
    }),
  editFact: (world, a, b) =>
    onFile(world, a, path => {
      const { bytes, mtime } = world.tree.fileAt(path)!
      world.oracle.edited.add(path)
      const edited = withOtherFact(bytes, b >>> 1)
      world.disk.write(path, edited, { inPlace: b % 2 === 0, ...(b % 3 === 0 && { mtime }) })
      return `${path} becomes ${nameOfBytes(edited)}, and its image data stay`
    }),
  sendAnew: (world, a) => world.stripping.want(a),
  changeUnseen: (world, a, b) =>
    onFile(world, a, path => {
      const before = world.tree.fileAt(path)!
      const bytes = Buffer.from(before.bytes)
      if (bytes.length > 11) bytes.writeUInt32LE(100 + (b % 5), 8)
      world.disk.write(path, bytes, { inPlace: b % 2 === 0, mtime: before.mtime })
      return `${path} becomes ${nameOfBytes(bytes)}, of the same size and time`
    }),
  writeSlowly: (world, a, b) => {
    const path = placeOf(world, a)
    const whole = pictureOf(world, b)
    const half = halfOf(whole)
    if (!make(world, path)) return 'nothing'
    world.oracle.halves.add(world.disk.write(path, half).hash)
    const file = world.tree.fileAt(path)!
    world.time.after(100 + (b % 800), () => world.disk.writeInto(file, whole))
    return `${path} is being written: ${nameOfBytes(whole)}`
  },
  rename: (world, a, b) =>
    onFile(world, a, path => {
      const to = placeOf(world, b)
      if (make(world, to)) world.disk.rename(path, to)
      return `${path} is moved to ${to}`
    }),
  nameOddly: (world, a, b) =>
    onFile(world, a, path => {
      const to = `${split(path).folder}/${['\\xff.gif', 'notes.txt'][b % 2]}`
      if (make(world, to)) world.disk.rename(path, to)
      return `${path} gets a name that is none of a picture: ${to}`
    }),
  remove: (world, a) =>
    onFile(world, a, path => {
      toTrash(world, path)
      return `${path} is deleted`
    }),
  removeMany(world, a, b) {
    const folder = FOLDERS[b % 4]!
    const root = world.mirrors[a % world.mirrors.length]!.folder
    const gone = world.tree.files().filter(path => path.startsWith(`${root}${folder}/`))
    for (const path of gone) toTrash(world, path)
    return `${gone.length} files below ${root}${folder} are deleted`
  },
  removeFolder: (world, a) =>
    onFolder(world, a, path => {
      // Nobody can remove a mount point.
      if ([path, ...world.tree.folders()].some(at => isIn(at, path) && world.disk.mountAt(at)))
        return 'nothing'
      for (const file of world.tree.files().filter(at => isIn(at, path))) toTrash(world, file)
      world.disk.remove(path)
      return `the folder ${path} is deleted`
    }),
  undelete(world, a) {
    const path = [...world.trash.keys()][a % Math.max(1, world.trash.size)]
    if (path === undefined || world.disk.find(path) || !make(world, path)) return 'nothing'
    const { bytes, mtime } = world.trash.get(path)!
    // Half a picture would be half for good.
    if (isHalf(bytes)) return 'nothing'
    world.disk.write(path, bytes, { mtime })
    return `${path} is taken back from the trash`
  },
  folderForFile: (world, a) =>
    onFile(world, a, path => {
      world.disk.remove(path)
      world.disk.makeFolder(path)
      return `${path} becomes a folder`
    }),
  linkForFile: (world, a) =>
    onFile(world, a, path => {
      world.disk.link(path)
      return `${path} becomes a link`
    }),
  emptyFile: (world, a) =>
    onFile(world, a, path => {
      world.disk.write(path, Buffer.alloc(0), { inPlace: true })
      return `${path} becomes empty`
    }),
  swapFolders: (world, a, b) =>
    onFolder(world, a, one => {
      const others = world.tree
        .folders()
        .filter(path => split(path).folder === split(one).folder && path !== one)
      const other = others[b % others.length]
      if (other) world.disk.swap(one, other)
      return `${one} and ${other ?? 'nothing'} are swapped`
    }),
  renameFolder: (world, a, b) =>
    onFolder(world, a, path => {
      const to = `${world.mirrors[b % world.mirrors.length]!.folder}/${['a', 'b', 'd'][(b >>> 4) % 3]}`
      if (!world.disk.find(to) && world.tree.isOn(to)) world.disk.rename(path, to)
      return `${path} is renamed ${to}`
    }),
  restoreOld: (world, a, b) =>
    onFile(world, a, path => {
      const bytes = pictureOf(world, b)
      world.disk.write(path, bytes, { mtime: 1_700_000_000_000_000 + (b % 3) * 1_000_000 })
      return `${path} is restored as ${nameOfBytes(bytes)}, with an old time`
    }),
  copyTo: (world, a, b) =>
    onFile(world, a, path => {
      const { bytes, mtime } = world.tree.fileAt(path)!
      const to = placeOf(world, b)
      if (make(world, to)) world.disk.write(to, bytes, b % 2 === 0 ? { mtime } : {})
      return `${path} is copied to ${to}`
    }),
  lookAlike: (world, a, b) =>
    onFile(world, a, path => {
      const bytes = Buffer.from(world.tree.fileAt(path)!.bytes)
      if (bytes.length > 11) bytes.writeUInt32LE(200 + (b % 5), 8)
      const to = `${split(placeOf(world, b)).folder}/${split(path).name}`
      return put(world, to, bytes)
    }),
  reencode(world, a, b) {
    const root = world.mirrors[a % world.mirrors.length]!.folder
    const files = world.tree.files().filter(path => path.startsWith(`${root}/`))
    for (const [at, path] of files.entries())
      world.disk.write(path, pictureOf(world, b + at), { inPlace: true })
    return `all ${files.length} files in ${root} are encoded anew`
  },
  ignore(world, a, b) {
    const folder = split(placeOf(world, a)).folder
    const text = ['x.gif', 'y.gif', 'c', 'a\nz.gif'][b % 4]!
    if (make(world, `${folder}/${IGNORE_FILE}`))
      world.disk.write(`${folder}/${IGNORE_FILE}`, Buffer.from(text))
    return `${folder} ignores ${text.replace('\n', ', ')}`
  },
  unignore: (world, a) =>
    onIgnoreFile(world, a, path => {
      noteIgnoreGone(world, split(path).folder)
      world.disk.remove(path)
      return `${path} is deleted`
    }),
  ignoreFileUnreadable: (world, a) => onIgnoreFile(world, a, path => setReadable(world, path, false)),
  folderUnreadable: (world, a) => onFolder(world, a, path => setReadable(world, path, false)),
  rootUnreadable: (world, a) => setReadable(world, world.mirrors[a % world.mirrors.length]!.folder, false),
  fileUnreadable: (world, a) => onFile(world, a, path => setReadable(world, path, false)),
  readable(world) {
    const roots = world.mirrors.map(({ folder }) => folder)
    const shut = [...roots, ...world.tree.everything()].filter(
      path => world.disk.find(path)?.node.readable === false,
    )
    for (const path of shut) setReadable(world, path, true)
    return `${shut.length} can be read again`
  },
  rootOff: (world, a, b) => takeRoot(world, a, b),
  rootOn(world) {
    for (const { folder } of world.mirrors) world.tree.bringBack(folder)
    return 'the roots are back'
  },
  mountOff(world, a) {
    const mirrors = world.mirrors.filter(
      ({ folder }) => world.tree.isOn(folder) && world.disk.mountAt(`${folder}/b`),
    )
    const mirror = mirrors[a % mirrors.length]
    if (!mirror) return 'nothing'
    world.tree.unmountSub(`${mirror.folder}/b`)
    return `${mirror.folder}/b is unmounted`
  },
  mountOver(world, a) {
    const folders = world.tree.folders().filter(path => !world.disk.mountAt(path))
    const path = folders[a % folders.length]
    if (path === undefined) return 'nothing'
    world.tree.mountOver(path)
    return `another disk is mounted over ${path}`
  },
  mountOn(world) {
    world.tree.mountSubs()
    return 'what was unmounted is mounted again'
  },
  saveCopy(world, a, b) {
    world.tree.saveCopy(copiedIn(world, a, b))
    return `${copiedIn(world, a, b)} is backed up`
  },
  takeAside(world, a, b) {
    const path = copiedIn(world, a, b)
    if (!world.tree.takeAside(path, b % 4 > 1)) return 'nothing'
    return `${path} is taken away${b % 4 > 1 ? ', and an empty folder is made in its place' : ''}`
  },
  olderCopy(world, a, b) {
    const path = copiedIn(world, a, b)
    if (!world.tree.putCopy(path)) return 'nothing'
    if (b > 1) world.disk.makeFolder(`${path}/d`)
    return `the backup of ${path} is in its place`
  },
  beginRestore(world, a, b) {
    const path = copiedIn(world, a, b)
    const own = `${path}/${RESTORE_FOLDER}`
    if (!make(world, own)) return 'nothing'
    world.disk.makeFolder(own)
    return `a restore brings ${bringBack(world, path, every => every % 2 === 0)} pictures back below ${path}, and is killed`
  },
  endRestore(world, a, b) {
    const path = copiedIn(world, a, b)
    if (!world.disk.find(`${path}/${RESTORE_FOLDER}`)) return 'nothing'
    // Or a person wants the folder as it is.
    const back = b > 1 ? 0 : bringBack(world, path, () => true)
    world.disk.remove(`${path}/${RESTORE_FOLDER}`)
    return `the restore of ${path} ends, and brings ${back} pictures back`
  },
  ...WRITERS,
  ...MANY_PICTURES,
}

/** Brings back some of the deleted pictures below a folder, but no half ones: those were never on the host. Answers how many. */
function bringBack(world: World, folder: string, isMeant: (number: number) => boolean): number {
  const gone = [...world.trash].filter(([path]) => isIn(path, folder))
  const back = gone.filter(
    ([path, { bytes }], at) => isMeant(at) && !isHalf(bytes) && !world.disk.find(path) && make(world, path),
  )
  for (const [path, { bytes, mtime }] of back) world.disk.write(path, bytes, { mtime })
  return back.length
}

/** A root, or its folder `a`. */
function copiedIn({ mirrors }: World, a: number, b: number): string {
  return `${mirrors[a % mirrors.length]!.folder}${b % 2 === 0 ? '' : '/a'}`
}

function put(world: World, path: string, bytes: Buffer): string {
  if (!make(world, path)) return 'nothing'
  world.disk.write(path, bytes)
  return `${path} becomes ${nameOfBytes(bytes)}`
}

function toTrash(world: World, path: string): void {
  world.trash.set(path, { ...world.tree.fileAt(path)! })
  world.disk.remove(path)
}

function onFolder(world: World, a: number, act: (path: string) => string): string {
  const folders = world.tree.folders()
  const path = folders[a % folders.length]
  return path === undefined ? 'nothing' : act(path)
}

function onIgnoreFile(world: World, a: number, act: (path: string) => string): string {
  const files = world.tree.everything().filter(path => split(path).name === IGNORE_FILE)
  const path = files[a % files.length]
  return path === undefined ? 'nothing' : act(path)
}

/** One that was gone a moment ago may be gone for longer than it seems. */
function noteIgnoreGone({ state, mirrors, doubts, disk }: World, folder: string): void {
  const record = folderAt(state.synced, mirrors, folder)
  if (record && record.ignore_text !== null && record.ignore_gone === 0)
    doubts.ignoreGone.set(folder, disk.happens())
}

function setReadable(world: World, path: string, readable: boolean): string {
  world.disk.setReadable(path, readable)
  return `${path} can ${readable ? '' : 'no longer '}be read`
}

function takeRoot(world: World, a: number, b: number): string {
  const mirror = world.mirrors[a % world.mirrors.length]!
  const { folder } = mirror
  const { disk } = world
  if (!world.tree.isOn(folder)) return 'nothing'
  const how = disk.mountAt(folder) ? 'unmounted' : (['gone', 'replaced', 'restored'] as const)[b % 3]!
  // A backup of what is half written would be half for good.
  if (how === 'restored' && world.tree.files().some(path => isHalf(world.tree.fileAt(path)!.bytes)))
    return 'nothing'
  if (how === 'restored') {
    const copy = disk.copy(disk.find(folder)!.node as FolderNode)
    disk.takeAway(folder)
    disk.putBack(folder, copy)
    return `${folder} is restored from a backup`
  }
  world.tree.takeOff(folder)
  if (how === 'replaced') {
    disk.makeFolder(folder)
    disk.write(`${folder}/${NAMES[(b >>> 4) % 4]}`, pictureOf(world, b >>> 6))
  }
  return `${folder} is ${how}`
}

function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

/** What people do who want to know how the host stands, and to mend it; and what a host does that gives them reason to. */
export const CHECKING_ACTIONS: Partial<Record<ActionKind, (world: World, a: number, b: number) => string>> = {
  audit(world, a) {
    world.auditing.ask(false, a % 2 === 0)
    return 'a person wants an audit'
  },
  auditRepair(world, a) {
    world.auditing.ask(true, a % 2 === 0)
    return 'a person wants an audit that mends'
  },
  keepDeleted(world, a) {
    world.host.keepsDeleted += 1 + (a % 3)
    return `the host keeps the next ${world.host.keepsDeleted} images that albumd deletes`
  },
  resend(world, a) {
    world.resending.want(a)
    return 'a person wants what is in doubt sent again'
  },
}
