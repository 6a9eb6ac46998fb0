import type { Config } from '../../config/schema.ts'
import type { MirroredPicture } from '../../daemon/report/mirrored-pictures.ts'
import { systemClock } from '../../protocol/clock.ts'
import { count, printable, shellWord } from '../../words/text.ts'
import { configCommand, flag, jsonOption, locator, pathArgument, wholeMirrors } from '../options.ts'
import { EXIT, sayStateProblem } from '../problem.ts'
import { fitted } from '../terminal/fitted.ts'
import { FORMATS, listing, needsAddress, UNKNOWN } from '../terminal/listing-formats.ts'
import { SCHEMA, sayAside, writeOut } from '../terminal/output.ts'
import { stateInWords } from './why.ts'

export const lsCommand = configCommand(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what is at and below this path' })
      .options({
        format: { choices: FORMATS, default: 'table' as const, describe: 'How they are listed' },
        long: flag('Show the ids of the images too'),
        'left-out': flag('What on the disk is not mirrored, and why, instead of what is on the host'),
        ...jsonOption,
      })
      .example('$0 ls Holiday', 'What is on the host of a folder')
      .example('$0 ls --left-out', 'What is not mirrored, and why')
      .example('$0 ls --format csv > pictures.csv', 'For a spreadsheet')
      .example('$0 ls Holiday --format markdown', 'To paste into a page: each picture, shown')
      .epilogue(
        'Where the state is not "synced", the address may show the picture as it was before, or nothing.',
      ),
  async (config, { path, json, format: named, long, 'left-out': leftOut }) => {
    const format = json ? 'json' : named
    await sayStateProblem(config)
    const { reading } = await import('../../daemon/state/state.ts')
    const { picturesOf, recordedAt } = await import('../../daemon/report/mirrored-pictures.ts')
    const locate = await locator(config)
    return reading(config, async synced => {
      const places = path === undefined ? wholeMirrors(config) : locate(synced, path)
      if (leftOut) {
        const { leftOutLines } = await import('../terminal/left-out.ts')
        const lines = leftOutLines(places, format === 'json')
        await writeOut(process.stdout, format === 'json' ? lines : fittedLines(lines))
        return EXIT.inSync
      }
      const found = places.map(place => recordedAt(synced, place))
      let listed = 0
      let unknown = 0
      function* pictures(): Generator<MirroredPicture> {
        for (const at of found)
          for (const picture of picturesOf(at)) {
            listed++
            if (picture.url === null) unknown++
            yield picture
          }
      }
      const oneMirror = new Set(places.map(({ mirror }) => mirror.folder)).size === 1
      const lines = await listing(pictures(), format, { oneMirror, long, out: process.stdout })
      await writeOut(process.stdout, json ? inObject(lines) : lines)
      if (unknown > 0 && needsAddress(format))
        sayAside(`Left out: ${count(unknown, 'picture')} whose ${UNKNOWN}`)
      if (listed === 0 && path !== undefined) await sayWhyNot(config, path)
      return EXIT.inSync
    })
  },
)

async function sayWhyNot(config: Config, path: string): Promise<void> {
  const { explainPath } = await import('../../daemon/report/explain.ts')
  for (const explained of await explainPath(config, pathArgument(path)!, systemClock.wall()))
    sayAside(
      `Nothing is listed for ${printable(path)} (${stateInWords(explained)}). "albumd why ${printable(shellWord(explained.path))}" tells more`,
    )
}

function* fittedLines(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield fitted(line, process.stdout.columns)
}

function* inObject(lines: Iterable<string>): Generator<string> {
  yield `{"schema":${SCHEMA},"pictures":`
  yield* lines
  yield '}\n'
}
