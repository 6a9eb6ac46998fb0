import { openKits, playSeeds } from '../campaign.ts'
import { playMutant } from './catch-mutant.ts'
import { MUTANTS } from './mutants.ts'

/*
 * `find-mutants.ts [COUNT] [NAME] [FROM]`: finds a seed for every mutant that its own no longer shows, among COUNT from
 * FROM on; its table in `mutants/` is then to be mended by hand.
 */
const [count = '2000', wanted, from = '1'] = process.argv.slice(2)
const print = (line: string) => void process.stdout.write(`${line}\n`)
const kits = openKits()

for (const mutant of MUTANTS.filter(({ name }) => wanted === undefined || name === wanted)) {
  try {
    const failures = await playMutant(mutant, { from: Number(from), count: Number(count), most: 6 })
    const held = new Set(failures.map(({ seed }) => seed))
    for (const { seed } of (await playSeeds(held, kits)).failures) held.delete(seed)
    const caught = failures.filter(({ seed }) => held.has(seed))
    const [first] = caught
    print(
      first
        ? `${mutant.name}: seed ${first.seed} (${first.invariant}: ${first.what.slice(0, 90)})${mutant.seed === first.seed ? '' : ' NEW'}`
        : `${mutant.name}: NOT CAUGHT`,
    )
  } catch (error) {
    print(`${mutant.name}: ${(error as Error).message}`)
  }
}
