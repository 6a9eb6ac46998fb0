import type { Synced } from '../../synced/synced.ts'

/**
 * Why nothing of any mirror may be deleted now, or null: while one of them is in doubt, a picture of another may have
 * gone there.
 */
export function doubtAbout({ mirrors }: Synced, policies: readonly { folder: string }[]): string | null {
  for (const { folder } of policies) {
    const guard = mirrors.of(folder)?.guard
    if (guard != null) return guard
  }
  return null
}
