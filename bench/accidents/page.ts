import type { Accident } from './accidents.ts'
import type { Result } from './cell.ts'
import { PICTURES } from './place.ts'
import type { Variant } from './tools/tool.ts'

type Table = ReadonlyMap<Accident, ReadonlyMap<Variant, Result | null>>

const ABOUT = `# What an accident costs, here and elsewhere

For whoever chooses between albumd and another tool. Each tool mirrors ${PICTURES} pictures in 12 folders and rests. Then the
accident happens to the pictures on the local side, the tool goes on, and is started once more. Nobody intervenes. A cell says how
many pictures are **lost** on the other side: neither shown there nor among the versions that the tool keeps. *Doubled*: files too
many. †: the tool said something that a person would see, an exit code, a warning, or a decision that it waits for. Afterwards \`albumd restore FOLDER --at TIME\` brought
all of albumd's pictures back as they were before, byte for byte, unless a cell says how many (*back*).
`

const FAIR = `## How to read it

- rsync, rclone sync and lsyncd promise to make the other side equal, and no more. unison and Syncthing carry changes both ways, and
  a deletion is a change. A tool that keeps versions loses nothing, as long as somebody looks for them in time.
- Each is the program of Debian's package, run by an ordinary user, with a folder on the same machine as its other side. The
  protections are those of its own manual. Waits are short so that an accident is over in a minute: albumd's \`deletions.grace\` is
  5 seconds instead of 10 minutes, so an accident "one after another" is slower than the grace.
- What is few albumd deletes after its grace: that is what a mirror is for. Pictures that go one after another are few until
  they are [many](deletions-wait.md#how-many-are-there-at-once). \`grace: 30d\` keeps the few on the host for a month too.
- "Back" needs the records; after a lost state [\`albumd restore FOLDER --from-host\`](../how-to/disk-died.md) fetches the pictures.
- When its state was lost, albumd knows pictures that are there by their names. A picture that was moved meanwhile is sent to its
  new place, and its old image stays; \`albumd audit\` names it. With \`deletions: keep\` and \`grace: 30d\` the images at the old
  places stay after every move, as they promise.
`

/** The page of the docs: what was played, the table, and fair words. */
export function pageOf(table: Table, variants: readonly Variant[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const head = variants.map(({ tool, how }) => (how === 'default' ? tool : `${tool}, ${how}`))
  const rows = [...table].map(([{ says }, row]) =>
    line([says, ...variants.map(each => cellOf(row.get(each) ?? null))]),
  )
  return [
    ABOUT,
    line(['accident', ...head]),
    `|${'---|'.repeat(variants.length + 1)}`,
    ...rows,
    '',
    `\`npm run bench -- accidents\`, ${new Date().toISOString().slice(0, 10)}.`,
    '',
    FAIR,
  ].join('\n')
}

/** "45†", "200† (+199 doubled)", "0, back 190". */
function cellOf(result: Result | null): string {
  if (result === null) return '–'
  const { lost, doubled, told, back } = result
  const lostAndTold = `${lost}${told.length > 0 ? '†' : ''}`
  return [
    doubled > 0 ? `${lostAndTold} (+${doubled} doubled)` : lostAndTold,
    ...(back === null || back === PICTURES ? [] : [`back ${back}`]),
  ].join(', ')
}
