/** What `work` returns, or null when `work` throws, for example because a file of the system is missing. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
