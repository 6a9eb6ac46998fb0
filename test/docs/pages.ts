import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const CHECKOUT = join(import.meta.dirname, '../..')

/** A page that people read. */
export interface Page {
  /** From the checkout on. */
  path: string
  text: string
}

/** README, docs and the other pages of the checkout. */
export function allPages(): Page[] {
  const below = (folder: string) =>
    readdirSync(join(CHECKOUT, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name))
  const root = readdirSync(CHECKOUT)
  return [...root, ...below('docs'), ...below('examples')]
    .filter(path => path.endsWith('.md'))
    .sort()
    .map(path => ({ path, text: readFileSync(join(CHECKOUT, path), 'utf8') }))
}
