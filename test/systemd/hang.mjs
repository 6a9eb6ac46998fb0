// Taken in before albumd, so that a test can make it hang: the whole process on SIGUSR2, or whatever reads a picture while
// there is a file "disk-hangs" beside this one.
import files from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const { existsSync, read } = files
const sign = join(import.meta.dirname, 'disk-hangs')
const hanging = (...args) => (existsSync(sign) ? undefined : read(...args))
// promisify knows by a property of `read` what it resolves with.
files.read = Object.defineProperties(hanging, Object.getOwnPropertyDescriptors(read))
syncBuiltinESMExports()
process.on('SIGUSR2', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
