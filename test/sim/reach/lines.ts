import { globSync, readFileSync } from 'node:fs'
import { type Profiler, Session } from 'node:inspector/promises'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { convert } from 'ast-v8-to-istanbul'
import coverage from 'istanbul-lib-coverage'
import { parseAst } from 'rolldown/parseAst'

/** The engine: what decides, and what records it. */
const ENGINE = 'src/{sync,records}/**/*.ts'
const HOME = join(import.meta.dirname, '../../..')

export type Script = Profiler.ScriptCoverage

/** Counts what of the engine, loaded after this, runs in this thread. Returns a function that returns what ran. */
export async function beginCounting(): Promise<() => Promise<Script[]>> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const engine = new Set(sources().map(file => pathToFileURL(file).href))
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return result.filter(({ url }) => engine.has(url))
  }
}

/** The lines and branches of the engine that were run in any thread, file by file, and those that were not. */
export async function reachOf(threads: readonly Script[][]): Promise<string[]> {
  const whole = coverage.createCoverageMap()
  for (const file of sources()) {
    const code = readFileSync(file, 'utf8')
    const ast = parseAst(code, { lang: 'ts' })
    const url = pathToFileURL(file).href
    const ran = threads.flatMap(scripts => scripts.filter(script => script.url === url))
    for (const script of [notRun(url, code), ...ran])
      whole.merge(await convert({ code, ast, wrapperLength: 0, coverage: script }))
  }
  const said = ({ lines, branches }: coverage.CoverageSummaryData) =>
    `${lines.covered} of ${lines.total} lines (${lines.pct} %), ${branches.covered} of ${branches.total} branches (${branches.pct} %)`
  return [
    ...whole.files().flatMap(file => {
      const its = whole.fileCoverageFor(file)
      const missed = its.getUncoveredLines().join(' ')
      return missed === '' ? [] : [`${relative(HOME, file)}: not ${missed}`]
    }),
    `the engine: ${said(whole.getCoverageSummary())}`,
  ]
}

function sources(): string[] {
  return globSync(ENGINE, { cwd: HOME }).map(file => join(HOME, file))
}

function notRun(url: string, code: string): Script {
  const ranges = [{ startOffset: 0, endOffset: code.length, count: 0 }]
  return { scriptId: '', url, functions: [{ functionName: '', isBlockCoverage: true, ranges }] }
}
