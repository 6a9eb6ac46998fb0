import { run } from '../../src/cli/main.ts'
import { describeError } from '../../src/cli/problem.ts'

/** How a command line is refused, by the command line's own code in this process. The program writes `lines`. */
export async function refusalOf(args: readonly string[]): Promise<{ exitCode: number; lines: string }> {
  try {
    await run(args, () => {})
  } catch (error) {
    return describeError(error)
  }
  throw new Error(`"${args.join(' ')}" is not refused`)
}
