import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import type { Order } from './catch-mutant.ts'
import { MUTANTS } from './mutants.ts'

/*
 * Plays mutants one after the other. `?mutant=NAME` behind the address of a module is the module as that mutant has it, and
 * so is each of ours that it imports: the engine of each mutant is loaded anew, in a process that has all else.
 */

const OURS = new URL('../../../', import.meta.url).href
const mutantOf = (url: string | undefined) => url && new URL(url).searchParams.get('mutant')
const isOurs = (url: string) => url.startsWith(OURS) && !url.includes('/node_modules/')
/** What a module holds, without its types, by its address: most are as they were. */
const sources = new Map<string, string>()

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const mutant = mutantOf(context.parentURL)
    if (!mutant || !isOurs(resolved.url) || !resolved.url.endsWith('.ts')) return resolved
    return { ...resolved, url: addressOf(resolved.url, mutant) }
  },
  load(url, context, nextLoad) {
    const mutant = mutantOf(url)
    if (!mutant) return nextLoad(url, context)
    const plain = url.slice(0, url.indexOf('?'))
    return { format: 'module', source: edited(plain, mutant), shortCircuit: true }
  },
})

function addressOf(url: string, mutant: string): string {
  return `${url}?mutant=${encodeURIComponent(mutant)}`
}

function edited(url: string, name: string): string {
  const mutant = MUTANTS.find(each => each.name === name)
  if (!mutant) throw new Error(`there is no such mutant: ${name}`)
  const edits = ('edits' in mutant ? mutant.edits : [mutant]).filter(({ file }) =>
    url.endsWith(`/src/${file}`),
  )
  if (edits.length === 0) {
    if (!sources.has(url)) sources.set(url, stripTypeScriptTypes(textOf(url)))
    return sources.get(url)!
  }
  let text = textOf(url)
  for (const { file, find, replace } of edits) {
    if (text.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`)
    text = text.replace(find, () => replace)
  }
  return stripTypeScriptTypes(text)
}

function textOf(url: string): string {
  return readFileSync(fileURLToPath(url), 'utf8')
}

parentPort!.on('message', async ({ name, seed, from, count, most }: Order) => {
  const campaign = addressOf(new URL('../campaign.ts', import.meta.url).href, name)
  const { openKits, playSeeds } = (await import(campaign)) as typeof import('../campaign.ts')
  const seeds = [seed, ...Array.from({ length: count }, (_, at) => from + at)]
  let failed = 0
  const { failures } = await playSeeds(seeds, openKits(), () => ++failed >= most)
  parentPort!.postMessage(failures)
})
