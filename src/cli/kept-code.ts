import { hash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writevSync,
} from 'node:fs'
import { createRequire, getCompileCacheDir } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { orNull } from '../daemon/or-null.ts'

/** A file of the program as a function, the way Node itself wraps it. */
const HEAD = '(function (exports, require, module, __filename, __dirname) { '
const TAIL = '\n})'

/** Where the code of each file begins and ends, counted from the end of this list, and its SHA-256. */
type Index = Record<string, [from: number, to: number, digest: string]>

/** The list is the first line of the file, and shorter than so many bytes. */
const INDEX_MAX = 65_536

/**
 * Has the program's files loaded with the code into which V8 compiled them in an earlier run of this command. Node keeps
 * compiled code too, but only from before a file runs. Then most functions are not compiled yet, so each run compiles
 * them again, and that takes a sixth of its time.
 *
 * Answers a function for the end of the command. The function keeps the code if this run had to compile a file. The
 * files' names change with their content, so a name says which code belongs to a file. The files are ASCII, as the build
 * makes them. Nothing is kept where Node keeps no compiled code, or where the program runs from its sources.
 */
export function useKeptCode(command: string): () => void {
  const here = import.meta.dirname
  const folder = import.meta.filename.endsWith('.js') ? getCompileCacheDir() : undefined
  if (folder === undefined || !/^[a-z-]*$/.test(command)) return () => {}
  const place = join(folder, `code-${command}`)
  const kept = orNull(() => openKept(place))
  const scripts = new Map<string, Script>()
  const modules = new Map<string, { exports: unknown }>()
  const requireOther = createRequire(import.meta.filename)
  let isComplete = true

  function load(name: string): unknown {
    const loaded = modules.get(name)
    if (loaded) return loaded.exports
    const module = { exports: {} }
    modules.set(name, module)
    const filename = join(here, name)
    const source = `${HEAD}${readFileSync(filename, 'latin1')}${TAIL}`
    const cachedData = orNull(() => kept?.read(name)) ?? undefined
    const script = new Script(source, { filename, columnOffset: -HEAD.length, cachedData })
    if (!cachedData || script.cachedDataRejected) isComplete = false
    scripts.set(name, script)
    script.runInThisContext().call(module.exports, module.exports, requireHere, module, filename, here)
    return module.exports
  }
  const requireHere = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : requireOther(id))

  // Node loads the first file, and this the files that it needs.
  const { extensions } = requireOther
  const byNode = extensions['.js']!
  extensions['.js'] = (module, filename) => {
    if (dirname(filename) === here) module.exports = load(basename(filename))
    else byNode(module, filename)
  }
  return () => {
    if (isComplete) return
    const codes = new Map<string, Buffer>(
      Array.from(scripts, ([name, script]) => [name, script.createCachedData()]),
    )
    // Another use of the command, such as one with --json, needs other files: its code stays, as long as its file is there.
    for (const name of kept?.names ?? []) {
      const code = codes.has(name) || !existsSync(join(here, name)) ? null : orNull(() => kept!.read(name))
      if (code) codes.set(name, code)
    }
    orNull(() => keep(place, codes))
  }
}

/** `read`: the code of a file; undefined when none is kept, or when the code is damaged. */
function openKept(place: string): { names: string[]; read(name: string): Buffer | undefined } {
  const file = openSync(place, 'r')
  const bytesAt = (from: number, length: number) => {
    const bytes = Buffer.allocUnsafe(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, from))
  }
  const start = bytesAt(0, INDEX_MAX)
  const end = start.indexOf('\n')
  const index: Index = JSON.parse(start.toString('latin1', 0, end))
  return {
    names: Object.keys(index),
    read(name) {
      if (!index[name]) return undefined
      const [from, to, digest] = index[name]
      const code = bytesAt(end + 1 + from, to - from)
      // V8 runs damaged code without a check, and hangs or crashes.
      return hash('sha256', code) === digest ? code : undefined
    },
  }
}

/** After a power cut, the file is the old one or the whole new one. */
function keep(place: string, codes: ReadonlyMap<string, Buffer>): void {
  const index: Index = {}
  let at = 0
  for (const [name, code] of codes) {
    index[name] = [at, at + code.length, hash('sha256', code)]
    at += code.length
  }
  const file = openSync(`${place}.${process.pid}`, 'w', 0o600)
  try {
    writevSync(file, [Buffer.from(`${JSON.stringify(index)}\n`), ...codes.values()])
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(`${place}.${process.pid}`, place)
}
