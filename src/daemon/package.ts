import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of package.json: two above this file, in src/daemon as in dist/cli, where the build puts all code. */
export const PACKAGE_FOLDER = join(import.meta.dirname, '../..')

export const version: string = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')).version
