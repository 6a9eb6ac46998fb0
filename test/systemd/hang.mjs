// Taken in before albumd, so that a test can make it hang: the whole process on SIGUSR2, or whatever opens a file while
// there is a file "disk-hangs" beside this one.
import { existsSync } from 'node:fs'
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const { open } = files
const sign = join(import.meta.dirname, 'disk-hangs')
files.open = (...args) => (existsSync(sign) ? new Promise(() => {}) : open(...args))
syncBuiltinESMExports()
process.on('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
