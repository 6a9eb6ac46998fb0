/** Makes the Debian packages, each with a Node.js of its own and a bill of materials (CycloneDX) beside it. The same sources
 * make the same bytes: the only time in them is that of the last commit, or $SOURCE_DATE_EPOCH. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'

const ROOT = join(import.meta.dirname, '..')
/** Debian's name of an architecture, and Node's. */
const CPU: Record<string, string> = { amd64: 'x64', arm64: 'arm64' }
/** Where the program is. src/cli/service/place.ts knows this path too. */
const PROGRAM = 'usr/lib/albumd'
const DOC = 'usr/share/doc/albumd'

const { values: options } = parseArgs({
  options: {
    /** One of CPU, or all. */
    arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
    /** The folder for the packages. */
    into: { type: 'string', default: ROOT },
    /** Compresses with gzip, as little as it can: 50 MB in seconds, instead of 30 MB in a minute. */
    quick: { type: 'boolean', default: false },
  },
})

/** Runs a program to its end and answers what it wrote. Throws when it fails. */
const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const readJson = (path: string) => JSON.parse(readText(path))

const version: string = readJson('package.json').version
const nodeVersion: string = readJson('node_modules/node/package.json').version
const EPOCH_S = Number(process.env.SOURCE_DATE_EPOCH || run('git', 'log', '-1', '--format=%ct'))

for (const arch of options.arch === 'all' ? Object.keys(CPU) : [options.arch]) {
  step(`gathering the files for ${arch}`)
  const node = nodeFor(arch)
  if (node === null) {
    process.stderr.write(`npm did not give the Node.js ${nodeVersion} for ${arch}: no package for ${arch}.\n`)
    if (options.arch !== 'all') process.exitCode = 1
    continue
  }
  const file = join(options.into, `albumd_${version}_${arch}.deb`)
  // What is cut off leaves no half package under the name that people install.
  makePackage(arch, node, `${file}.part`)
  renameSync(`${file}.part`, file)
  writeFileSync(file.replace(/deb$/, 'cdx.json'), billOfMaterials(arch, file))
  process.stdout.write(`${file}\n`)
}

function step(what: string): void {
  process.stderr.write(`${what}\n`)
}

/** The folder of npm's package with a Node.js. Null: npm gives none. */
function nodeFor(arch: string): string | null {
  const name = `node-linux-${CPU[arch]}`
  return moduleFolder(name, nodeVersion, `node_modules/node/node_modules/${name}`)
}

/** The folder of a package of npm: the one that `npm ci` has brought, or a fetched one. Null: npm gives none. */
function moduleFolder(name: string, version: string, brought = `node_modules/${name}`): string | null {
  const fetched = join(ROOT, 'node_modules/.cache/albumd-deb', `${name}-${version}`)
  const there = [join(ROOT, brought), fetched].find(existsSync)
  if (there) return there
  const folder = mkdtempSync(join(tmpdir(), 'albumd-module-'))
  try {
    const packed = run('npm', 'pack', '--silent', '--pack-destination', folder, `${name}@${version}`)
    run('tar', '--extract', '--directory', folder, '--file', join(folder, packed.trim()))
    cpSync(join(folder, 'package'), fetched, { recursive: true })
    return fetched
  } catch {
    return null
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The compiled parts of sharp, which makes the status page's thumbnails, for an architecture. */
function sharpFor(arch: string): [name: string, folder: string][] {
  const versions: Record<string, string> = readJson('node_modules/sharp/package.json').optionalDependencies
  return ['sharp', 'sharp-libvips'].map(part => {
    const name = `@img/${part}-linux-${CPU[arch]}`
    const folder = moduleFolder(name, versions[name]!)
    if (folder === null) throw new Error(`npm did not give ${name}`)
    return [name, folder]
  })
}

function makePackage(arch: string, node: string, file: string): void {
  const tree = mkdtempSync(join(tmpdir(), 'albumd-deb-'))
  try {
    const put = (path: string, content: string | Buffer, mode = 0o644) => {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      writeFileSync(join(tree, path), content, { mode })
    }
    const copy = (from: string, to: string) =>
      cpSync(join(ROOT, from), join(tree, to), {
        recursive: true,
        filter: path => !/\/(dist\/cache|semver\/bin)$/.test(path),
      })
    const link = (path: string, to: string) => {
      mkdirSync(dirname(join(tree, path)), { recursive: true })
      symlinkSync(to, join(tree, path))
    }
    const placing = { put, copy, link }
    placeProgram(arch, node, placing)
    placeForDebian(node, placing)
    placeControl(arch, tree, put)
    for (const path of ['.', ...pathsIn(tree)]) {
      const place = join(tree, path)
      const stat = lstatSync(place)
      if (!stat.isSymbolicLink()) chmodSync(place, stat.isDirectory() || stat.mode & 0o100 ? 0o755 : 0o644)
      lutimesSync(place, EPOCH_S, EPOCH_S)
    }
    step(`packing them${options.quick ? '' : ', which takes some minutes'}`)
    execFileSync(
      'dpkg-deb',
      ['--root-owner-group', ...(options.quick ? ['-Zgzip', '-z1'] : ['-Zxz', '-z6']), '--build', tree, file],
      {
        env: { ...process.env, SOURCE_DATE_EPOCH: String(EPOCH_S) },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    )
  } finally {
    rmSync(tree, { recursive: true })
  }
}

/** What makes a package's tree: text at a path, a copy of the checkout's files, a link. */
interface Placing {
  put(path: string, content: string | Buffer, mode?: number): void
  copy(from: string, to: string): void
  link(path: string, to: string): void
}

function placeProgram(arch: string, node: string, { put, copy, link }: Placing): void {
  for (const part of ['dist', 'systemd', 'config.schema.json', 'package.json'])
    copy(part, `${PROGRAM}/${part}`)
  for (const part of ['lib', 'package.json', `prebuilds/linux-${CPU[arch]}.node`])
    copy(`node_modules/better-sqlite3/${part}`, `${PROGRAM}/node_modules/better-sqlite3/${part}`)
  for (const name of ['sharp/dist', 'sharp/package.json', '@img/colour', 'detect-libc', 'semver'])
    copy(`node_modules/${name}`, `${PROGRAM}/node_modules/${name}`)
  for (const [name, folder] of sharpFor(arch)) copy(relative(ROOT, folder), `${PROGRAM}/node_modules/${name}`)
  put(`${PROGRAM}/bin/node`, readFileSync(join(node, 'bin/node')), 0o755)
  const program = readText('dist/cli/albumd.js').replace(/^#!.*/, `#!/${PROGRAM}/bin/node`)
  put(`${PROGRAM}/dist/cli/albumd.js`, program, 0o755)
  link('usr/bin/albumd', '../lib/albumd/dist/cli/albumd.js')
  // Where src/cli/albumd.ts has root's runs keep compiled code.
  link(`${PROGRAM}/dist/cache`, '/var/cache/albumd')
}

function placeForDebian(node: string, { put, copy }: Placing): void {
  const units = 'usr/lib/systemd'
  for (const unit of ['albumd.service', 'albumd@.service']) copy(`systemd/${unit}`, `${units}/system/${unit}`)
  copy('systemd/albumd-user.service', `${units}/user/albumd.service`)
  copy('systemd/sysusers.conf', 'usr/lib/sysusers.d/albumd.conf')
  copy('scripts/deb/default', 'etc/default/albumd')
  for (const [shell, path] of [
    ['bash', 'bash-completion/completions/albumd'],
    ['zsh', 'zsh/vendor-completions/_albumd'],
    ['fish', 'fish/vendor_completions.d/albumd.fish'],
  ] as const)
    put(`usr/share/${path}`, run(process.execPath, 'dist/cli/albumd.js', 'completion', shell))
  const gzip = (text: string) => gzipSync(text, { level: 9 })
  for (const manual of readJson('package.json').man)
    put(`usr/share/man/man${manual.at(-1)}/${basename(manual)}.gz`, gzip(readText(manual)))
  for (const part of ['README.md', 'CHANGELOG.md', 'SECURITY.md', 'config.example.yaml', 'docs', 'examples'])
    copy(part, `${DOC}/${part}`)
  put(`${DOC}/copyright`, copyright())
  put(`${DOC}/LICENSE-of-node`, readFileSync(join(node, 'LICENSE')))
  const date = new Date(EPOCH_S * 1000).toUTCString().replace('GMT', '+0000')
  const maintainer = /^Maintainer: (.*)$/m.exec(readText('scripts/deb/control'))![1]
  const entry = `albumd (${version}) unstable; urgency=medium\n\n  * CHANGELOG.md says what is new.\n\n -- ${maintainer}  ${date}\n`
  put(`${DOC}/changelog.gz`, gzip(entry))
  copy('scripts/deb/lintian-overrides', 'usr/share/lintian/overrides/albumd')
}

/** The licences of albumd and of each package in its bundle. */
function copyright(): string {
  const { packages } = readJson('node_modules/.package-lock.json')
  const textIn = (folder: string) => {
    const name = readdirSync(join(ROOT, folder)).find(each => /^licen[cs]e/i.test(each))
    return name ? readText(`${folder}/${name}`) : 'The package has no text of its licence.'
  }
  const bundled = Object.keys(packages).filter(path => !packages[path].dev)
  const common: Record<string, string> = { 'Apache-2.0': 'Apache-2.0', 'LGPL-3.0-or-later': 'LGPL-3' }
  return [
    ['albumd', readText('LICENSE')],
    ['Node.js', `/${DOC}/LICENSE-of-node has the licences of Node.js ${nodeVersion} and its parts.`],
    ...bundled.map(folder => {
      const { version, license } = packages[folder]
      const text = common[license] ? `/usr/share/common-licenses/${common[license]} has it.` : textIn(folder)
      return [`${folder.split('node_modules/').at(-1)} ${version} (${license})`, text] as const
    }),
  ]
    .map(([title, text]) => `${title}\n${'='.repeat(title!.length)}\n\n${text!.trim()}\n`)
    .join('\n\n')
}

function placeControl(arch: string, tree: string, put: Placing['put']): void {
  for (const folder of ['etc/albumd', 'var/cache/albumd']) mkdirSync(join(tree, folder), { recursive: true })
  const files = pathsIn(tree).filter(path => lstatSync(join(tree, path)).isFile())
  const sums = files.map(path => `${digest('md5', join(tree, path))}  ${path}\n`)
  const sizeKib = files.reduce((sum, path) => sum + Math.ceil(lstatSync(join(tree, path)).size / 1024), 0)
  const conffiles = files.filter(path => path.startsWith('etc/')).map(path => `/${path}\n`)
  const control = readText('scripts/deb/control')
    .replace('VERSION', version)
    .replace('ARCHITECTURE', arch)
    .replace('SIZE', String(sizeKib))
  put('DEBIAN/control', control)
  put('DEBIAN/md5sums', sums.join(''))
  put('DEBIAN/conffiles', conffiles.join(''))
  put('DEBIAN/templates', readText('scripts/deb/templates'))
  for (const script of ['config', 'postinst', 'prerm', 'postrm'])
    put(`DEBIAN/${script}`, readText(`scripts/deb/${script}`), 0o755)
}

/** What npm says of the packages in the bundle, with Node.js, and the package's digest. */
function billOfMaterials(arch: string, file: string): string {
  const bill = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'))
  const sha256 = digest('sha256', file)
  const { externalReferences: _, ...self } = bill.metadata.component
  bill.serialNumber = `urn:uuid:${sha256.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-8$3-8$4-$5')}`
  bill.metadata.timestamp = new Date(EPOCH_S * 1000).toISOString()
  bill.metadata.component = {
    ...self,
    type: 'application',
    name: 'albumd',
    purl: `pkg:deb/albumd@${version}?arch=${arch}`,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
  }
  const node = { name: 'node', version: nodeVersion, purl: `pkg:npm/node-linux-${CPU[arch]}@${nodeVersion}` }
  const ref = `node@${nodeVersion}`
  bill.components.push({
    'bom-ref': ref,
    type: 'application',
    ...node,
    licenses: [{ license: { id: 'MIT' } }],
  })
  // npm lists sharp's compiled parts for all systems.
  const isHere = (ref: string) => !/^@img.sharp-/.test(ref) || ref.includes(`-linux-${CPU[arch]}@`)
  bill.components = bill.components.filter((each: { 'bom-ref': string }) => isHere(each['bom-ref']))
  bill.dependencies = bill.dependencies
    .filter((each: { ref: string }) => isHere(each.ref))
    .map((each: { dependsOn: string[] }) => ({ ...each, dependsOn: each.dependsOn.filter(isHere) }))
  bill.dependencies.find((each: { ref: string }) => each.ref === self['bom-ref']).dependsOn.push(ref)
  bill.dependencies.push({ ref, dependsOn: [] })
  return `${JSON.stringify(bill, null, 2)}\n`
}

function digest(algorithm: string, path: string): string {
  return createHash(algorithm).update(readFileSync(path)).digest('hex')
}

/** Everything below a folder, sorted. */
function pathsIn(folder: string): string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).sort()
}
