import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A path in a folder of its own that goes with the test. */
export function tempFile(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'albumd-synced-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, name)
}
