/** The user that owns nothing. */
export const NOBODY = 65_534

const isRoot = process.getuid?.() === 0

/** Does this as another user than root, who may read and write everything. A user other than root does it as himself. */
export async function asNobody<T>(act: () => T | Promise<T>): Promise<T> {
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    return await act()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}
