/** What `work` returns, or null when `work` throws. For example, the content of a system's file that may be missing. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
