import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export function tempFolder(): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'albumd-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function tempFile(name: string): string {
  return join(tempFolder(), name)
}

/** Writes files below a folder, with the folders that they need. A path that ends in a slash is a folder. */
export function plant(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(path.endsWith('/') ? join(root, path) : dirname(join(root, path)), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(join(root, path), text)
  }
}

export function planted(files: Record<string, string>): string {
  const root = tempFolder()
  plant(root, files)
  return root
}
