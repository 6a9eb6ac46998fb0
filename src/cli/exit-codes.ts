/** The contract's exit codes. */
export const EXIT = {
  inSync: 0,
  unexpected: 1,
  usage: 2,
  /** Finished, with something left: failed, uncertain or held files, quota, a guarded mirror, an unreachable host. */
  left: 3,
  /** Another albumd has this state or one of its folders. */
  locked: 4,
  /** The host refused the key or the whole plan. */
  refused: 5,
} as const
