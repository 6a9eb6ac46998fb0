import type { Config } from '../../config/schema.ts'
import type { VerifiedInWords } from '../../daemon/commands/sync.ts'
import type { Operation } from '../../daemon/report/preview.ts'
import type { MirrorPolicy } from '../../sync/pass-request.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { count, printable, sizeInWords } from '../../words/text.ts'
import { onePass } from '../one-pass.ts'
import { configCommand, flag, jsonOption, pathToActOn, quietOption, valued } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import type { OnInterrupts } from '../terminal/interrupts.ts'
import { printJson, printLine, sayAside } from '../terminal/output.ts'
import { locationsToActOn } from './ls.ts'

export const syncCommand = configCommand(
  options =>
    options
      .positional('paths', {
        type: 'string',
        array: true,
        default: [] as string[],
        describe: 'Scan only these folders, or the folders of these pictures',
      })
      .options({
        'dry-run': flag('Print the plan with reasons; change nothing anywhere, and do not ask the host'),
        'prune-ignored': flag('Give up the images of pictures that an ignore rule hides'),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 sync -c albumd.yaml', 'Mirror now')
      .example('$0 sync ~/Pictures/Holiday', 'Scan one folder alone')
      .example('$0 sync -c albumd.yaml --dry-run', 'See what it would do')
      .epilogue(
        'At the end of the pass sync deletes the images of pictures that its scan found gone, after it has ' +
          'looked at each path again. deletions.grace is for run: images that run has in grace keep it, and ' +
          'holds apply. If albumd run runs, it makes the pass, with its grace, and Ctrl-C ends only the ' +
          'watching. If albumd is paused, sync does nothing but say so (exit code 3).',
      ),
  async (config, { paths, 'dry-run': dryRun, 'prune-ignored': pruneIgnored, json, quiet }, onInterrupts) => {
    if (dryRun && paths.length > 0)
      throw new Problem('--dry-run looks at everything. Leave out the paths, or --dry-run')
    if (dryRun) return preview(pruning(config, pruneIgnored), json, onInterrupts)
    const places = await locationsToActOn(config, paths)
    const named = places.map(({ mirror, path }) => fullPath(mirror.folder, path))
    const request = named.length > 0 ? { pruneIgnored, paths: named } : { pruneIgnored }
    return (await onePass(config, 'sync', request, { json, quiet }, onInterrupts)).exitCode
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

export const retryCommand = configCommand(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what failed at and below this path' })
      .options({
        resend: valued(
          'Send a picture again whose upload can not be found out; it may then be on the host twice',
        ),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 retry', 'Try everything again that failed')
      .example('$0 retry --resend Holiday/a.jpg', 'Send a picture again whose outcome is not known'),
  async (config, { path, resend, json, quiet }, onInterrupts) => {
    const request = { path: await pathToActOn(config, path), resend: await pathToActOn(config, resend) }
    return (await onePass(config, 'retry', request, { json, quiet }, onInterrupts)).exitCode
  },
)

export const adoptCommand = configCommand(
  options =>
    options
      .options({
        verify: flag(
          'Fetch what was linked by name and size, and compare its bytes; needs an upload of ours that the host acknowledged',
        ),
        ...quietOption,
        ...jsonOption,
      })
      .example('$0 adopt', 'Link local pictures to images that are on the host already')
      .example('$0 adopt --verify', 'The same, and prove by their bytes that they are the same'),
  async (config, { verify, json, quiet }, onInterrupts) => {
    const { exitCode, result } = await onePass(config, 'adopt', { verify }, { json, quiet }, onInterrupts)
    if (result.verified && !quiet) report(result.verified, result.addressesKnown)
    return exitCode
  },
)

/** albumd learns how the host builds delivery addresses from the host's answer to an upload. */
const AFTER_AN_UPLOAD = '; after the next picture was uploaded, run "albumd adopt --verify" again'

/** Writes to standard error, because standard output has the summary. */
function report({ equal, other, unknown, why }: VerifiedInWords, addressesKnown: boolean): void {
  const remedy = addressesKnown ? '' : AFTER_AN_UPLOAD
  sayAside(`${count(equal, 'linked image')} proved to be the same`)
  if (other > 0)
    sayAside(`${count(other, 'linked image')} proved to be another. The next sync uploads the pictures`)
  if (unknown > 0) sayAside(`${count(unknown, 'linked image')} could not be compared: ${why}${remedy}`)
}
