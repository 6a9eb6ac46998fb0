import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Tools } from './tools.ts'

/** The machine, and what ran on it, in a few lines. `folder`: on the disk that was measured. `loadBefore`: see `loadNow`. */
export function describe(folder: string, tools: Tools, albumd: string, loadBefore: string): string[] {
  const cpu = cpus()[0]?.model ?? 'unknown processor'
  const memory = Math.round(totalmem() / 2 ** 30)
  const versions = [...tools, ['chokidar', versionOfChokidar()] as const].map(
    ([name, version]) => `${name} ${version}`,
  )
  return [
    `machine: ${availableParallelism()} × ${cpu}, ${memory} GiB, Linux ${release()}, ${fileSystemOf(folder)}`,
    `load before and after: ${loadBefore} and ${loadNow()}; where others are at work, ratios say less, and what uses two cores looks slower`,
    `versions: albumd ${albumd}, Node.js ${process.versions.node}, ${versions.join(', ')}`,
  ]
}

function versionOfChokidar(): string {
  const manifest = join(import.meta.dirname, '../../node_modules/chokidar/package.json')
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

/** How many processes wanted a core, over the last minute. */
export function loadNow(): string {
  return loadavg()[0]!.toFixed(1)
}

function fileSystemOf(folder: string): string {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(' '))
    .filter(([, point]) => point === '/' || `${folder}/`.startsWith(`${point}/`))
    .sort((a, b) => b[1]!.length - a[1]!.length)
  const free = statfsSync(folder)
  const gigabytes = Math.round((free.bavail * free.bsize) / 2 ** 30)
  return `${mounts[0]?.[2] ?? 'unknown file system'} with ${gigabytes} GiB free`
}
