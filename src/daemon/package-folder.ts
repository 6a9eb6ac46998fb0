import { join } from 'node:path'

/** Where package.json is: two folders above, from the sources as from dist/cli. */
export const PACKAGE_FOLDER = join(import.meta.dirname, '../..')
