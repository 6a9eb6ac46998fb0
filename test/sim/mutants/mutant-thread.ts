import { readFileSync } from 'node:fs'
import { registerHooks, stripTypeScriptTypes } from 'node:module'
import { fileURLToPath } from 'node:url'
import { parentPort } from 'node:worker_threads'
import type { Order } from './catch-mutant.ts'
import type { Mutant } from './mutant.ts'
import { withNamed } from './named.ts'

/*
 * Plays mutants one after the other. `?mutant=NAME` behind the address of a module is the module as that mutant has it. Only
 * what a mutant edits, and what imports that, is loaded anew: all else is there, and is quick by now.
 */

const OURS = new URL('../../../', import.meta.url).href
const mutantOf = (url: string | undefined) => url && new URL(url).searchParams.get('mutant')
const isOurs = (url: string) => url.startsWith(OURS) && !url.includes('/node_modules/')
/** What a module holds, without its types, by its address: most are as they were. */
const sources = new Map<string, string>()
/** By a module's address, those of ours that import it. */
const importers = new Map<string, Set<string>>()

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context)
    const { parentURL } = context
    if (!parentURL || !isOurs(resolved.url) || !resolved.url.endsWith('.ts')) return resolved
    const mutant = mutantOf(parentURL)
    if (mutant)
      return reachOf(mutant).has(resolved.url)
        ? { ...resolved, url: addressOf(resolved.url, mutant) }
        : resolved
    if (!importers.has(resolved.url)) importers.set(resolved.url, new Set())
    importers.get(resolved.url)!.add(parentURL)
    return resolved
  },
  load(url, context, nextLoad) {
    const mutant = mutantOf(url)
    if (!mutant) return nextLoad(url, context)
    const plain = url.slice(0, url.indexOf('?'))
    return { format: 'module', source: edited(plain, mutant), shortCircuit: true }
  },
})

// Late: what the tables import is seen too.
const { MUTANTS } = await import('./mutants.ts')

function addressOf(url: string, mutant: string): string {
  return `${url}?mutant=${encodeURIComponent(mutant)}`
}

function mutantNamed(name: string): Mutant {
  const mutant = MUTANTS.find(each => each.name === name)
  if (!mutant) throw new Error(`there is no such mutant: ${name}`)
  return mutant
}

/** What the edited modules call: what stands in the place of a name. */
Object.assign(globalThis, {
  albumdMutant: (mutant: string, file: string) => (name: string, original: unknown, self: unknown) =>
    mutantNamed(mutant).instead[file]![name]!(original, self),
})

/** The modules that a mutant edits, and all that import them. */
let reach: { name: string; modules: Set<string> } | null = null
function reachOf(name: string): Set<string> {
  if (reach?.name === name) return reach.modules
  const files = Object.keys(mutantNamed(name).instead).map(file => `${OURS}src/${file}`)
  const unplayed = files.find(file => !importers.has(file))
  if (unplayed) throw new Error(`the simulation plays nothing of ${unplayed}`)
  const modules = new Set(files)
  // What is added is visited too.
  for (const module of modules) for (const importer of importers.get(module) ?? []) modules.add(importer)
  reach = { name, modules }
  return modules
}

function edited(url: string, name: string): string {
  const file = url.startsWith(`${OURS}src/`) ? url.slice(`${OURS}src/`.length) : ''
  const names = mutantNamed(name).instead[file]
  if (names) {
    const by = `albumdMutant(${JSON.stringify(name)}, ${JSON.stringify(file)})`
    return withNamed(textOf(url), Object.keys(names), by)
  }
  if (!sources.has(url)) sources.set(url, stripTypeScriptTypes(textOf(url)))
  return sources.get(url)!
}

function textOf(url: string): string {
  return readFileSync(fileURLToPath(url), 'utf8')
}

const CAMPAIGN = new URL('../campaign.ts', import.meta.url).href

parentPort!.on('message', async ({ name, seed, from, count, most }: Order) => {
  // As it is, first: what imports what is known then.
  await import(CAMPAIGN)
  const campaign = addressOf(CAMPAIGN, name)
  const { openKits, playSeeds } = (await import(campaign)) as typeof import('../campaign.ts')
  const seeds = [seed, ...Array.from({ length: count }, (_, at) => from + at)]
  let failed = 0
  const { failures } = await playSeeds(seeds, openKits(), () => ++failed >= most)
  parentPort!.postMessage(failures)
})
