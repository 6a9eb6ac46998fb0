import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ACCIDENTS, type Accident } from '../accidents/accidents.ts'
import { play, type Result } from '../accidents/cell.ts'
import { pageOf } from '../accidents/page.ts'
import { isRoot, PICTURES } from '../accidents/place.ts'
import { ALBUMDS } from '../accidents/tools/albumd.ts'
import { COPIERS } from '../accidents/tools/copiers.ts'
import { SYNCTHINGS } from '../accidents/tools/syncthing.ts'
import type { Variant } from '../accidents/tools/tool.ts'
import type { Part } from '../part.ts'

/** Cells that are played at once. Nearly all of their time is waiting. */
const AT_ONCE = 14
const PAGE = join(import.meta.dirname, '../../docs/why/accidents.md')

/** Of the short form: a cell of each kind. */
const SHORT = /^(?:the root is an empty|90 % of the pictures are deleted$|all pictures are encrypted)/

export const accidents: Part = {
  name: 'accidents',
  about: `what becomes of ${PICTURES} pictures on the other side after an accident; takes 20 minutes, and writes docs/why/accidents.md`,
  onlyNamed: true,
  async measure({ short, scratch, has, say, add }) {
    const variants = [...ALBUMDS, ...COPIERS, ...SYNCTHINGS].filter(({ tool, needs }) =>
      needs.every(name => has(name, tool)),
    )
    // The tools run as another user, who must get into it.
    chmodSync(scratch, 0o711)
    if (!isRoot) say('left out what needs root: mounts and unreadable folders')
    const played = ACCIDENTS.filter(({ asRoot, says }) => (isRoot || !asRoot) && (!short || SHORT.test(says)))
    const table = new Map(played.map(accident => [accident, new Map<Variant, Result | null>()]))
    const cells = played
      .flatMap(accident => variants.map(variant => ({ accident, variant })))
      [Symbol.iterator]()
    let done = 0
    const playCells = async () => {
      for (const { accident, variant } of cells) {
        const name = `${variant.tool} (${variant.how}), ${accident.says}`
        const result = await playTwice(accident, variant, join(scratch, `cell-${done++}`)).catch(
          (error: Error) => {
            say(`${name}: not played: ${error.stack}`)
            process.exitCode = 1
            return null
          },
        )
        table.get(accident)!.set(variant, result)
        if (result)
          say(
            `${name}: ${JSON.stringify({ ...result, told: result.told.slice(0, 2).map(line => line.slice(0, 150)) })}`,
          )
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, playCells))

    const page = pageOf(table, variants)
    if (short || !isRoot) process.stdout.write(`${page}\n`)
    else writeFileSync(PAGE, page)
    const lostWith = (variant: Variant) =>
      [...table.values()].reduce((sum, row) => sum + (row.get(variant)?.lost ?? 0), 0)
    const ours = lostWith(ALBUMDS[0]!)
    for (const variant of variants.slice(1))
      add({
        figure: `pictures lost in ${played.length} accidents, beside ${variant.tool} (${variant.how})`,
        ours: String(ours),
        theirs: String(lostWith(variant)),
        ratio: null,
        aim: '',
        met: null,
      })
  },
}

/** Once more where a busy machine let a program come too late. */
function playTwice(accident: Accident, variant: Variant, at: string): Promise<Result> {
  return play(accident, variant, at).catch(() => play(accident, variant, `${at}-again`))
}
