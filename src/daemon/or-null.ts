/** What `work` answers, or null when `work` throws. For things that may be missing, such as a file of the system. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
