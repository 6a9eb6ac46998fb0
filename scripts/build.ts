import { chmodSync, cpSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Plugin, rolldown } from 'rolldown'

const ROOT = join(import.meta.dirname, '..')

/** Of undici, albumd needs HTTP/1.1, and HTTP/2 for a heartbeat at most. What it does not need takes memory and time. */
const UNDICI: Plugin = {
  name: 'undici without what is rarely used',
  load(id) {
    // A second parser of HTTP/1.1, which only an environment variable switches on.
    if (/undici.lib.dispatcher.parser-h1\.js$/.test(id))
      return 'module.exports = { getMiloEnabled: () => false }'
    // The parser is there as WebAssembly for processors with SIMD and for those without.
    const fileName = /undici.lib.llhttp.(\w+)-wasm\.js$/.exec(id)?.[1]?.concat('.wasm')
    if (fileName === undefined) return null
    this.emitFile({ type: 'asset', fileName, source: createRequire(id)(id) })
    return `module.exports = require('node:fs').readFileSync(require('node:path').join(__dirname, '${fileName}'))`
  },
  transform(code, id) {
    if (!/undici.lib.dispatcher.client\.js$/.test(id)) return null
    const eager = "const connectH2 = require('./client-h2.js')"
    if (!code.includes(eager)) throw new Error(`${id} loads HTTP/2 in another way than before`)
    return code.replace(eager, "const connectH2 = (...args) => require('./client-h2.js')(...args)")
  },
}

/** Only the compiled part of better-sqlite3 stays where it is. Its own code finds that part beside itself, and here as Node
 * would find the package, but for its package.json, which takes longer to read than the part to load. */
const SQLITE: Plugin = {
  name: 'better-sqlite3 without its compiled part',
  transform(code, id) {
    if (!/better-sqlite3.lib.binding\.js$/.test(id)) return null
    const beside =
      "require.resolve.paths('better-sqlite3').map(at => at + '/better-sqlite3/lib').find(fs.existsSync)"
    return code.replaceAll('__dirname', beside)
  },
}

/** Node loads its larger modules when they are first used. Each takes as long as a tenth of what a short command does. */
const LATE: Plugin = {
  name: 'the larger modules of Node when they are used',
  renderChunk: code =>
    [
      ...code.matchAll(
        /^let (node_(?:child_process|crypto|http|net|worker_threads|zlib)) = (require\("\S+"\));$/gm,
      ),
    ].reduce(
      (whole, [line, name, loaded]) =>
        whole
          .replaceAll(`${name}.`, `${name}.late.`)
          .replace(line, () => `const ${name} = { get late() { return (this.loaded ??= ${loaded}) } };`),
      code,
    ),
}

/** What so many of the parts that are loaded when they are needed share is one file. With fewer, a short command reads
 * what it does not need; with more, Node takes longer to find the files than to read them. */
const SHARED = {
  name: 'common',
  test: /\/src\/(?!cli\/albumd|daemon\/package|local\/scan-worker)/,
  minShareCount: 14,
}

/** What every command loads is one file, but for what `--version` alone loads. */
const START = { name: 'start', test: /\/src\/cli\/(main|read-config)\./, priority: 1 }
const VERSION = { name: 'package', test: /\/src\/daemon\/package\./, priority: 2 }

/** V8 holds a file of ASCII alone in half the memory. */
const ASCII: Plugin = {
  name: 'ASCII alone',
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === 'chunk')
        file.code = file.code.replace(
          /[^\0-\x7f]/g,
          unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
  },
}

/** Makes dist/: the program as few files, for Node takes half of a short command's time to find and read 700 modules. All
 * of them stand in dist/cli/. So a source that looks for what is beside the code stands two folders deep as well.
 *
 * The files are CommonJS. An import of `node:http` reads every export of that module, and one of them loads a whole HTTP
 * client; `require` reads what is used. */
export async function build(): Promise<void> {
  rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
  const bundle = await rolldown({
    cwd: ROOT,
    input: {
      albumd: 'src/cli/albumd.ts',
      'scan-worker': 'src/local/scan-worker.ts',
      'heic-child': 'src/daemon/heic/heic-child.ts',
      'thumbnail-child': 'src/page/thumbnail-child.ts',
    },
    // It finds its compiled part by itself, and is loaded only where somebody looks at the page.
    external: ['sharp'],
    platform: 'node',
    // No module of src does anything when it is loaded. So what one name needs is loaded, and not all that its room exports.
    treeshake: { moduleSideEffects: (id, external) => external || !id.startsWith(join(ROOT, 'src')) },
    plugins: [UNDICI, SQLITE, LATE, ASCII],
    // Bottleneck hides from bundlers what only those need who have a Redis. yargs can extend configs, which nobody asks for.
    checks: { eval: false, emptyImportMeta: false, ineffectiveDynamicImport: false },
  })
  await bundle.write({
    dir: 'dist/cli',
    format: 'cjs',
    codeSplitting: { groups: [VERSION, START, SHARED] },
    chunkFileNames: '[name]-[hash].js',
    // Node reads the whole of a file. The licences of packages stay.
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundle.close()
  for (const folder of ['cli/try/pictures', 'page/assets'])
    cpSync(join(ROOT, 'src', folder), join(ROOT, 'dist', folder), { recursive: true })
  // The package's own package.json says that its files are modules, as the sources are.
  writeFileSync(join(ROOT, 'dist/package.json'), '{ "type": "commonjs" }\n')
  chmodSync(join(ROOT, 'dist/cli/albumd.js'), 0o755)
}

if (import.meta.main) await build()
