import { EXIT } from './exit-codes.ts'
import type { MakeCommand } from './options.ts'

/** A command as `albumd --help` shows it. */
export interface Command {
  /** Its name and its operands, as yargs writes them. */
  command: string
  describe: string
  /** The exit codes of the command, beside `unexpected`. */
  exits: readonly number[]
  /** Loads the command's code. Only the command that is run is loaded, so that a help text does not load a database driver. */
  load(): Promise<MakeCommand>
}

const { inSync, usage, left, locked, refused } = EXIT
/** The exit codes of commands that only read the config and the records. */
const LOOKING = [inSync, usage]
/** The exit codes of commands that change the records. */
const ACTING = [inSync, usage, left, locked]
/** The exit codes of commands that ask the host. */
const MIRRORING = [inSync, usage, left, locked, refused]

export const COMMANDS: readonly Command[] = [
  {
    command: 'init',
    describe: 'Asks for host, key and folders, checks them, and writes a config',
    exits: [inSync, usage, left, refused],
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  {
    command: 'run',
    describe: 'The daemon, in the foreground, until SIGTERM or Ctrl-C',
    exits: [inSync, usage, locked],
    load: async () => (await import('./commands/run.ts')).runCommand,
  },
  {
    command: 'sync',
    describe: 'One complete pass, then exit',
    exits: MIRRORING,
    load: async () => (await import('./commands/sync.ts')).syncCommand,
  },
  {
    command: 'status',
    describe: 'What is mirrored, what is under way, quota, failures',
    exits: LOOKING,
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    command: 'ls [path]',
    describe: 'The pictures that are on the host, with their ids and delivery addresses',
    exits: LOOKING,
    load: async () => (await import('./commands/ls.ts')).lsCommand,
  },
  {
    command: 'url <file>',
    describe: 'The delivery address of one picture',
    exits: [inSync, usage, left],
    load: async () => (await import('./commands/url.ts')).urlCommand,
  },
  {
    command: 'why <path>',
    describe: 'What is known of a picture or folder, its history, what happens next and when',
    exits: LOOKING,
    load: async () => (await import('./commands/why.ts')).whyCommand,
  },
  {
    command: 'deletions <action> [path]',
    describe: 'Held deletions: look, let them go ahead (not to be undone), or keep the images for good',
    exits: ACTING,
    load: async () => (await import('./commands/deletions.ts')).deletionsCommand,
  },
  {
    command: 'audit',
    describe: "Compare the host's listing with what is recorded",
    exits: MIRRORING,
    load: async () => (await import('./commands/audit.ts')).auditCommand,
  },
  {
    command: 'trust <folder>',
    describe: 'Accept a guarded folder as it is now: says what that will delete, and records it at once',
    exits: ACTING,
    load: async () => (await import('./commands/trust.ts')).trustCommand,
  },
  {
    command: 'retry [path]',
    describe: 'Forget failures and try again now',
    exits: MIRRORING,
    load: async () => (await import('./commands/retry.ts')).retryCommand,
  },
  {
    command: 'pause',
    describe: 'Send and delete nothing, until resume or for some time; survives restarts',
    exits: ACTING,
    load: async () => (await import('./commands/pause.ts')).pauseCommand,
  },
  {
    command: 'resume',
    describe: 'End a pause',
    exits: ACTING,
    load: async () => (await import('./commands/pause.ts')).resumeCommand,
  },
  {
    command: 'adopt',
    describe: "Rebuild a lost state from the host's listing, without uploading",
    exits: MIRRORING,
    load: async () => (await import('./commands/adopt.ts')).adoptCommand,
  },
  {
    command: 'restore <folder>',
    describe: 'Fetch mirrored pictures back into an empty folder, each proved by its hash',
    exits: [inSync, usage, left, locked],
    load: async () => (await import('./commands/restore.ts')).restoreCommand,
  },
  {
    command: 'doctor',
    describe: 'What is wrong or will be, each with its remedy: config, folders, clock, database, key, plan',
    exits: [inSync, usage, left, refused],
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    command: 'service',
    describe: 'Have systemd keep albumd running',
    exits: [inSync, usage, left],
    load: async () => (await import('./commands/service.ts')).serviceCommand,
  },
  {
    command: 'host',
    describe: 'The embedded image host on its own',
    exits: [inSync, usage, locked],
    load: async () => (await import('./commands/host.ts')).hostCommand,
  },
  {
    command: 'try [folder]',
    describe: 'See it work: an image host of its own, and sample pictures or your folder mirrored into it',
    exits: [inSync, usage, locked],
    load: async () => (await import('./commands/try.ts')).tryCommand,
  },
  {
    command: 'completion [shell]',
    describe: 'What bash or zsh needs to complete commands, options and files',
    exits: [inSync, usage],
    load: async () => (await import('./commands/completion.ts')).completionCommand,
  },
]
