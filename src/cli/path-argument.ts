import { resolve } from 'node:path'
import { EXIT } from './exit-codes.ts'
import { Problem } from './problem.ts'

/** A path as the state has it: below a mirror's folder, or absolute. An empty one is a variable that was not set. */
export function pathArgument(path: string | undefined): string | undefined {
  if (path === '') throw new Problem(EXIT.usage, 'the path is empty; leave it out to mean everything.')
  return path !== undefined && /^\.\.?(\/|$)/.test(path) ? resolve(path) : path?.replace(/\/+$/, '')
}
