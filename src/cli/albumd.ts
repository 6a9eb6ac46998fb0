#!/usr/bin/env node
// The version of Node is checked before any import, because an older Node can't parse some modules, and fails there.
const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]

if (major < 22 || (major === 22 && minor < 22)) {
  process.stderr.write(
    `albumd needs Node.js 22.22 or later; this is ${process.versions.node}. Install a newer one.\n`,
  )
  process.exitCode = 2
} else void start()

async function start(): Promise<void> {
  if (process.argv.length === 3 && process.argv[2] === '--version') {
    const { version } = await import('../daemon/package.ts')
    process.stdout.write(`${version}\n`)
    return
  }
  // Node starts a fifth faster with a cache of compiled code. The cache lies beside the code, where only people can write
  // who can change the code too. Only the owner of the code makes the cache, because the owner must be able to delete it.
  const { enableCompileCache } = process.getBuiltinModule('node:module')
  const { statSync } = process.getBuiltinModule('node:fs')
  const isOwn = statSync(import.meta.dirname).uid === (process.getuid?.() ?? 0)
  if (import.meta.filename.endsWith('.js') && isOwn) enableCompileCache(`${import.meta.dirname}/../cache`)
  const { main } = await import('./main.ts')
  await main(process.argv.slice(2))
}
