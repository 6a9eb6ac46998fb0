import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** A registry of npm's within this machine. */
export interface Registry {
  url: string
  close(): Promise<void>
}

type Installed = Record<string, { version: string; dev?: boolean }>

/** Gives out what the checkout has installed for albumd itself, and nothing else: an install from it needs no network,
 * gets the versions that the tests run with, and fails where a package of development alone is needed. */
export async function startRegistry(modules: string): Promise<Registry> {
  const packages = packagesIn(modules)
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent(request.url ?? '')
      .slice(1)
      .split('/-/')
    const folders = packages.get(name)
    const folder = version === undefined ? null : folders?.get(version)
    if (folder) {
      const shape = ['--exclude=./node_modules', '--transform=s,^\\.,package,']
      const tar = spawn('tar', ['--create', ...shape, `--directory=${folder}`, '.'])
      tar.stdout.pipe(response)
    } else if (folders && version === undefined) {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(described(name, folders, `http://${request.headers.host}`)))
    } else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Name → version → folder. */
function packagesIn(modules: string): Map<string, Map<string, string>> {
  const lock = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'))
  const packages = new Map<string, Map<string, string>>()
  for (const [path, { version, dev }] of Object.entries(lock.packages as Installed)) {
    if (dev) continue
    const name = path.split('node_modules/').at(-1)!
    const folders = packages.get(name) ?? new Map<string, string>()
    packages.set(name, folders.set(version, join(modules, '..', path)))
  }
  return packages
}

/** What npm asks for before it fetches a package. */
function described(name: string, folders: ReadonlyMap<string, string>, url: string): object {
  const versions = [...folders].map(([version, folder]) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    return [version, { ...manifest, dist: { tarball: `${url}/${name}/-/${version}` } }]
  })
  return { name, 'dist-tags': { latest: [...folders.keys()][0] }, versions: Object.fromEntries(versions) }
}
