import { readFileSync } from 'node:fs'

/** As package.json has it. The file stands two folders above, in the sources as in the package. */
export const version: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version
