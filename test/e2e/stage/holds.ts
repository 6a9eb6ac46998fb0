import { expect } from 'vitest'
import { type Run, type Stage, sha256 } from './stage.ts'

/** Whether a run ended well. */
export function ok({ code, out, err }: Run): void {
  expect(code, `${out}${err}`).toBe(0)
}

/** Whether the host delivers the bytes of these files, and of no others. */
export async function holds(stage: Stage, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const hashes = [...files.values()].map(sha256)
  expect(Object.values(await stage.delivered()).sort()).toEqual(hashes.sort())
}
