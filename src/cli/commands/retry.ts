import { onePass } from '../one-pass.ts'
import { command, configOption, jsonOption, pathToActOn, readConfig } from '../options.ts'

export const retryCommand = command(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what failed at and below this path' })
      .options({
        ...configOption,
        resend: {
          type: 'string',
          requiresArg: true,
          describe:
            'Send a picture again whose upload can not be found out; it may then be on the host twice',
        },
        ...jsonOption,
      })
      .example('$0 retry', 'Try everything again that failed')
      .example('$0 retry --resend Holiday/a.jpg', 'Send a picture again whose outcome is not known'),
  async ({ path, resend, config: flag, json }, onInterrupts) => {
    const config = await readConfig(flag)
    const request = { path: await pathToActOn(config, path), resend: await pathToActOn(config, resend) }
    return (await onePass(config, 'retry', request, { json, onInterrupts })).exitCode
  },
)
