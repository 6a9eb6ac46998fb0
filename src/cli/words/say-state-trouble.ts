import type { Config } from '../../config/schema.ts'

/** For commands that look into the state without opening it for work: says on standard error what is wrong with it. */
export async function sayStateTrouble({ state_dir }: Config): Promise<void> {
  const { stateProblem } = await import('../../daemon/state/state-problem.ts')
  const trouble = stateProblem(state_dir)
  if (trouble) process.stderr.write(`albumd: ${trouble}\n`)
}
