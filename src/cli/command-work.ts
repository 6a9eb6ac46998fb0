import type { Argv, CommandModule } from 'yargs'

/** What a command does with its arguments `A`; what it is called stands in commands.ts. `G`: of all commands. */
export interface CommandWork<A, G = object> {
  builder(command: Argv<G>): Argv<A>
  handler: CommandModule<G, A>['handler']
}
