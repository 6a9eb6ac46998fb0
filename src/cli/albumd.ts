#!/usr/bin/env node
// Nothing is imported before the version of Node is checked, because an older Node fails at the first module that it can't parse.
const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]

if (major < 22 || (major === 22 && minor < 22)) {
  process.stderr.write(
    `albumd needs Node.js 22.22 or later; this is ${process.versions.node}. Install a newer one.\n`,
  )
  process.exitCode = 2
} else if (process.argv.length === 3 && process.argv[2] === '--version') {
  const { version } = await import('../daemon/package.ts')
  process.stdout.write(`${version}\n`)
} else {
  // Beside the code, where it is one's own: Node needs a fifth less time for what it has compiled before. Nobody can put
  // something there who can't change the code itself, and nobody leaves there what its owner can't take away.
  const { enableCompileCache } = await import('node:module')
  const { statSync } = await import('node:fs')
  const isOwn = statSync(import.meta.dirname).uid === (process.getuid?.() ?? 0)
  if (import.meta.filename.endsWith('.js') && isOwn) enableCompileCache(`${import.meta.dirname}/../cache`)
  const { main } = await import('./main.ts')
  await main(process.argv.slice(2))
}
