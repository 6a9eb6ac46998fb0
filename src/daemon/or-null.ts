/** What `work` answers, or null where it throws. For what may be missing, such as a file of the system. */
export function orNull<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
