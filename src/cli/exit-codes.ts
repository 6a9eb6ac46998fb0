/** The contract's exit codes. */
export const EXIT = {
  inSync: 0,
  unexpected: 1,
  usage: 2,
  /** Something is left to do: failed, uncertain or held files, quota, a guarded mirror, an unreachable host. */
  left: 3,
  /** Another albumd uses this state or one of its folders. */
  locked: 4,
  /** The host refused the key or the whole plan. */
  refused: 5,
} as const

const MEANINGS: Record<number, string> = {
  [EXIT.inSync]: 'done',
  [EXIT.unexpected]: 'unexpected failure',
  [EXIT.usage]: 'bad usage or config',
  [EXIT.left]: 'something is left, or paused',
  [EXIT.locked]: 'another albumd has this state or folder',
  [EXIT.refused]: 'the host refused the key or the plan',
}

/** The exit codes for a command's help. Any command may fail unexpectedly. */
export function exitCodesInHelp(codes: readonly number[]): string {
  const all = [...new Set([...codes, EXIT.unexpected])].sort()
  return `Exit codes: ${all.map(code => `${code} ${MEANINGS[code]}`).join(', ')}.`
}
