import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, relative } from 'node:path'
import { type Run, runFile } from '../e2e/stage/stage.ts'
import { startRegistry } from './registry.ts'

const CHECKOUT = join(import.meta.dirname, '../..')
/** What is no source, and may be large. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'dist', 'albumd-try', 'coverage'])

/** albumd as npm has packed it and put it into an empty prefix. */
export interface Installed {
  /** The tarball's files, sorted. */
  files: string[]
  /** How the installation went. */
  install: Run
  /** Somebody's who has it. */
  env: NodeJS.ProcessEnv
  /** Runs a program of the prefix, or npm's, to its end. */
  run(program: string, args: string[], cwd: string): Promise<Run>
  /** Takes it all away. */
  dispose(): void
}

/** The sources are packed in a copy: what `npm start` runs in the checkout stays as it is. */
export async function packAndInstall(): Promise<Installed> {
  const home = mkdtempSync(join(realpathSync(tmpdir()), 'albumd-package-'))
  const modules = realpathSync(join(CHECKOUT, 'node_modules'))
  const prefix = join(home, 'prefix')
  const copy = copySources(home, modules)
  const registry = await startRegistry(modules)
  const env = environment(home, prefix, registry.url)
  const run = (program: string, args: string[], cwd: string) => runFile(program, args, cwd, env)
  try {
    const packed = await run('npm', ['pack', '--pack-destination', home], copy)
    const tarball = readdirSync(home).find(name => name.endsWith('.tgz'))
    if (packed.code !== 0 || !tarball) throw new Error(`npm pack failed: ${packed.err}`)
    const { out } = await run('tar', ['--list', '--gzip', '--quoting-style=literal', '--file', tarball], home)
    const install = await run('npm', ['install', '--global', join(home, tarball)], home)
    return {
      files: out
        .trimEnd()
        .split('\n')
        .map(path => relative('package', path))
        .sort(),
      install,
      env,
      run,
      dispose: () => rmSync(home, { recursive: true, force: true }),
    }
  } finally {
    await registry.close()
  }
}

export function copySources(home: string, modules: string): string {
  const copy = join(home, 'copy')
  cpSync(CHECKOUT, copy, {
    recursive: true,
    filter: path => !LEFT_OUT.has(relative(CHECKOUT, path)),
  })
  symlinkSync(modules, join(copy, 'node_modules'))
  // Of an earlier build, before a source was renamed.
  mkdirSync(join(copy, 'dist'))
  writeFileSync(join(copy, 'dist/earlier.js'), '')
  return copy
}

/** Of somebody who has never used npm: no settings, no cache, and none of what a running npm tells its scripts. */
function environment(home: string, prefix: string, registry: string): NodeJS.ProcessEnv {
  const ofNpm = Object.keys(process.env).filter(name => /^npm_/i.test(name))
  return {
    ...Object.fromEntries(ofNpm.map(name => [name, undefined])),
    HOME: home,
    PATH: [join(prefix, 'bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
    NO_PROXY: '127.0.0.1',
    npm_config_prefix: prefix,
    npm_config_registry: registry,
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  }
}
