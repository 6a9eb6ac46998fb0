import { basename } from 'node:path'
import { watch } from 'chokidar'
import { nowMs } from '../measure/wait.ts'
import type { ChokidarOptions, Heard } from './chokidar.ts'

/** The process of `startChokidar`. */
let heard: Heard[] = []

process.once('message', ({ folder, awaitWriteFinish }: ChokidarOptions) => {
  const watcher = watch(folder, { awaitWriteFinish, ignoreInitial: true })
  watcher.on('add', path => void heard.push({ name: basename(path), atMs: nowMs() }))
  watcher.once('ready', () => process.send!({ listening: { baseUrl: '' } }))
  process.on('message', () => {
    process.send!({ seen: heard })
    heard = []
  })
})
process.once('SIGTERM', () => process.exit())
