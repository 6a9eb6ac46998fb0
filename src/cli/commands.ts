import type { CommandCode } from './options.ts'
import { EXIT } from './problem.ts'

/** Loads a command's code. Only the command that is run is loaded, so that a help text does not load a database driver. */
const LOAD = {
  init: async () => (await import('./commands/init.ts')).initCommand,
  run: async () => (await import('./commands/run.ts')).runCommand,
  sync: async () => (await import('./commands/sync.ts')).syncCommand,
  put: async () => (await import('./commands/put.ts')).putCommand,
  status: async () => (await import('./commands/status.ts')).statusCommand,
  ls: async () => (await import('./commands/ls.ts')).lsCommand,
  url: async () => (await import('./commands/url.ts')).urlCommand,
  why: async () => (await import('./commands/why.ts')).whyCommand,
  deletions: async () => (await import('./commands/deletions.ts')).deletionsCommand,
  audit: async () => (await import('./commands/audit.ts')).auditCommand,
  trust: async () => (await import('./commands/trust.ts')).trustCommand,
  'move-mirror': async () => (await import('./commands/state.ts')).moveMirrorCommand,
  retry: async () => (await import('./commands/sync.ts')).retryCommand,
  pause: async () => (await import('./commands/pause.ts')).pauseCommand,
  resume: async () => (await import('./commands/pause.ts')).resumeCommand,
  adopt: async () => (await import('./commands/sync.ts')).adoptCommand,
  restore: async () => (await import('./commands/restore.ts')).restoreCommand,
  backup: async () => (await import('./commands/state.ts')).backupCommand,
  doctor: async () => (await import('./commands/doctor.ts')).doctorCommand,
  service: async () => (await import('./commands/service.ts')).serviceCommand,
  host: async () => (await import('./commands/host.ts')).hostCommand,
  try: async () => (await import('./commands/try.ts')).tryCommand,
  completion: async () => (await import('./commands/completion.ts')).completionCommand,
}

const { inSync, usage, left, locked, refused } = EXIT
const LOOKING = [inSync, usage]
const REPORTING = [inSync, usage, left]
const ACTING = [inSync, usage, left, locked]
const ASKING = [inSync, usage, left, refused]
const MIRRORING = [inSync, usage, left, locked, refused]
const SERVING = [inSync, usage, locked]

export interface Command {
  name: string
  command: string
  describe: string
  /** The exit codes with which the command may end, besides `unexpected`. */
  exits: readonly number[]
  load(): Promise<CommandCode>
}

const TABLE: readonly (readonly [command: string, describe: string, exits: readonly number[]])[] = [
  ['init', 'Asks for host, key and folders, checks them, and writes a config', ASKING],
  ['run', 'The daemon, in the foreground, until SIGTERM or Ctrl-C', SERVING],
  ['sync [paths..]', 'One complete pass, then exit', MIRRORING],
  ['put <files..>', 'Send these pictures now, and print their addresses', MIRRORING],
  ['status', 'What is mirrored, what is under way, quota, failures', LOOKING],
  ['ls [path]', 'The pictures that are on the host, with their delivery addresses', LOOKING],
  ['url <file>', 'The delivery address of one picture', REPORTING],
  ['why <path>', 'What is known of a picture or folder, its history, what happens next and when', LOOKING],
  [
    'deletions <action> [path]',
    'Deletions that wait: look, let held ones go ahead (not to be undone), or keep the images for good',
    ACTING,
  ],
  ['audit', "Compare the host's listing with what is recorded", MIRRORING],
  [
    'trust [folder]',
    'Accept a guarded folder as it is now, after saying what that will delete; or take albums from a machine that is gone',
    ACTING,
  ],
  [
    'move-mirror <old> <new>',
    "Say that a mirror's folder has moved, so that nothing is sent again",
    [inSync, usage, locked],
  ],
  ['retry [path]', 'Forget failures and try again now', MIRRORING],
  ['pause', 'Send and delete nothing, until resume or for some time; survives restarts', ACTING],
  ['resume', 'End a pause', ACTING],
  ['adopt', "Rebuild a lost state from the host's listing, without uploading", MIRRORING],
  [
    'restore <folder>',
    'Fetch mirrored pictures back into an empty folder, or with --at into a mirror, each proved by its hash',
    MIRRORING,
  ],
  ['backup <file>', 'Copy the state into a file, while the daemon works', LOOKING],
  [
    'doctor',
    'What is wrong or will be, each with its remedy: config, folders, clock, database, key, plan',
    ASKING,
  ],
  ['service', 'Have systemd keep albumd running', REPORTING],
  ['host', 'The embedded image host on its own', SERVING],
  [
    'try [folder]',
    'See it work: an image host of its own, and sample pictures or your folder mirrored into it',
    SERVING,
  ],
  [
    'completion [shell]',
    'The script with which bash, zsh or fish completes commands, options and files',
    LOOKING,
  ],
]

export const COMMANDS: readonly Command[] = TABLE.map(([command, describe, exits]) => {
  const name = command.split(' ')[0] as keyof typeof LOAD
  return { name, command, describe, exits, load: LOAD[name] }
})
