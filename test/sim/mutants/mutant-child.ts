import { openKits, playSeeds } from '../campaign.ts'

/*
 * `mutant-child.ts SEED FROM COUNT MOST`: plays SEED and then COUNT seeds from FROM, until MOST of them have failed.
 * Prints the failures as JSON.
 */
const [seed, from, count, most] = process.argv.slice(2).map(Number) as [number, number, number, number]
const seeds = [seed, ...Array.from({ length: count }, (_, at) => from + at)]
let failed = 0
const { failures } = await playSeeds(seeds, openKits(), () => ++failed >= most)
process.stdout.write(JSON.stringify(failures))
