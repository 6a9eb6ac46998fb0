import type { Config } from '../../config/schema.ts'
import type { Operation } from '../../daemon/report/preview.ts'
import type { MirrorPolicy } from '../../sync/pass-request.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { count, printable, sizeInWords } from '../../words/text.ts'
import { onePass } from '../one-pass.ts'
import { configCommand, flag, jsonOption } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import type { OnInterrupts } from '../terminal/interrupts.ts'
import { printJson, printLine } from '../terminal/output.ts'
import { locationsToActOn } from './ls.ts'

export const syncCommand = configCommand(
  options =>
    options
      .positional('paths', {
        type: 'string',
        array: true,
        default: [] as string[],
        describe: 'Look at these pictures or folders alone',
      })
      .options({
        'dry-run': flag('Print the plan with reasons; change nothing anywhere, and do not ask the host'),
        'prune-ignored': flag('Give up the images of pictures that an ignore rule hides'),
        ...jsonOption,
      })
      .example('$0 sync -c albumd.yaml', 'Mirror now')
      .example('$0 sync ~/Pictures/2026', 'Look at one folder alone')
      .example('$0 sync -c albumd.yaml --dry-run', 'See what it would do')
      .epilogue(
        'At the end of the pass sync deletes the images of pictures that its scan found gone, after it has ' +
          'looked at each path again. deletions.grace is for run: images that run has in grace keep it, and ' +
          'holds apply. If albumd run runs, it makes the pass, with its grace, and Ctrl-C ends only the ' +
          'watching. If albumd is paused, sync does nothing but say so (exit code 3).',
      ),
  async (config, { paths, 'dry-run': dryRun, 'prune-ignored': pruneIgnored, json }, onInterrupts) => {
    if (dryRun && paths.length > 0)
      throw new Problem('--dry-run looks at everything; leave out the paths, or --dry-run.')
    if (dryRun) return preview(pruning(config, pruneIgnored), json, onInterrupts)
    const places = await locationsToActOn(config, paths)
    const named = places.map(({ mirror, path }) => fullPath(mirror.folder, path))
    const request = named.length > 0 ? { pruneIgnored, paths: named } : { pruneIgnored }
    return (await onePass(config, 'sync', request, json, onInterrupts)).exitCode
  },
)

async function preview(config: Config, json: boolean, onInterrupts: OnInterrupts): Promise<number> {
  const { refuseMissingFolders } = await import('../read-config.ts')
  refuseMissingFolders(config)
  const { previewPass } = await import('../../daemon/report/preview.ts')
  const interrupts = onInterrupts()
  await sayStateProblem(config)
  const plan: Operation[] = []
  const notes: string[] = []
  let operations = 0
  let guarded = 0
  for await (const operation of previewPass(config, interrupts, line => notes.push(line))) {
    if (operation.operation === 'none') guarded++
    else operations++
    if (json) plan.push(operation)
    else printLine(operationInWords(operation))
  }
  if (json) printJson({ dry_run: true, plan, notes })
  else {
    const all = operations > 0 || guarded > 0 ? [count(operations, 'operation')] : ['nothing to do']
    if (guarded > 0) all.push(`${count(guarded, 'mirror')} guarded`)
    for (const note of notes) printLine(note)
    printLine(`${all.join(', ')}; nothing was changed, and the host was not asked`)
  }
  return EXIT.inSync
}

function operationInWords(operation: Operation): string {
  // The folder of a guarded mirror is not named here, because the reason names it.
  if (operation.operation === 'none') return `guarded: ${printable(operation.reason)}`
  const what = 'album' in operation ? `"${operation.album}"` : operation.path
  const size = 'size' in operation ? `, ${sizeInWords(operation.size)}` : ''
  const verb = operation.operation.replace('_', ' ')
  return `${verb} ${printable(what)} (${printable(operation.reason)}${size})`
}

/** The config in which each mirror has `pruneIgnored`, for as long as this command runs. */
function pruning(config: Config, pruneIgnored: boolean): Config {
  const mirrors = config.mirrors.map(mirror => ({ ...mirror, pruneIgnored }) satisfies MirrorPolicy)
  return { ...config, mirrors }
}
