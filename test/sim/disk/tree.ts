import { createHash } from 'node:crypto'
import { hasNote, withoutNote } from './tiny-picture.ts'

/** What lies on the virtual disk. Times are microseconds since 1970. */
export type Node = FileNode | FolderNode | LinkNode

interface Common {
  ino: number
  mtime: number
  ctime: number
  birthtime: number
  readable: boolean
}

export interface FileNode extends Common {
  kind: 'file'
  bytes: Buffer
  /** SHA-256 in hex. */
  hash: string
  /** True time of the last stamp, in milliseconds. */
  stampedAt: number
}

export interface FolderNode extends Common {
  kind: 'folder'
  children: Map<string, Node>
  /** What is mounted over it. */
  mount: Mount | null
}

export interface LinkNode extends Common {
  kind: 'link'
}

export interface Mount {
  dev: number
  root: FolderNode
}

/** A node and the device that it is on. */
export interface Found {
  node: Node
  dev: number
}

const hashes = new WeakMap<Buffer, string>()

/** SHA-256 in hex; each buffer is hashed once. */
export function hashOf(bytes: Buffer): string {
  const known = hashes.get(bytes)
  if (known) return known
  const hash = createHash('sha256').update(bytes).digest('hex')
  hashes.set(bytes, hash)
  return hash
}

/** Of bytes with metadata, the SHA-256 without them. */
const versions = new Map<string, string>()

/** What tells a version of a picture from others: its bytes without metadata, as SHA-256 in hex. */
export function versionOf(bytes: Buffer): string {
  if (!hasNote(bytes)) return hashOf(bytes)
  const version = hashOf(withoutNote(bytes))
  versions.set(hashOf(bytes), version)
  return version
}

/** The version of the bytes with this SHA-256. */
export function versionOfHash(hash: Buffer): string {
  const hex = hash.toString('hex')
  return versions.get(hex) ?? hex
}

export function split(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf('/')
  return { folder: path.slice(0, slash), name: path.slice(slash + 1) }
}

/** Whether a name is not valid UTF-8: each invalid byte is written as `\\xNN`, and nobody can ask for what it names. */
export function isOdd(name: string): boolean {
  return name.includes('\\x')
}

/** Itself and every folder above it, down to the mirror's root. */
export function* upwards(path: string): Generator<string> {
  for (let at = path; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) yield at
}

export function diskError(code: string, path: string): Error {
  const { stackTraceLimit } = Error
  // They come by the million, and nobody reads where from.
  Error.stackTraceLimit = 0
  const error = new Error(`${code}: '${path}'`)
  Error.stackTraceLimit = stackTraceLimit
  return Object.assign(error, { code })
}
