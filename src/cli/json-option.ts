/** `--json`, on all commands whose answer a program may want to read. */
export const jsonOption = {
  json: { type: 'boolean', default: false, describe: 'One object on standard output' },
} as const
