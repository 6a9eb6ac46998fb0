import { registerHooks } from 'node:module'
import { MUTANTS } from './mutants.ts'

/*
 * Loaded before everything else (`node --import`): changes the source of one module, as the mutant that is named in the
 * environment has it.
 */

const mutant = MUTANTS.find(({ name }) => name === process.env.SIM_MUTANT)
if (!mutant) throw new Error(`there is no such mutant: ${process.env.SIM_MUTANT}`)
const edits = 'edits' in mutant ? mutant.edits : [mutant]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const here = edits.filter(({ file }) => url.endsWith(`/src/${file}`))
    if (here.length === 0) return loaded
    let source =
      typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
    for (const { file, find, replace } of here) {
      if (source.split(find).length !== 2) throw new Error(`${file} does not hold this once: ${find}`)
      source = source.replace(find, () => replace)
    }
    return { ...loaded, source }
  },
})
