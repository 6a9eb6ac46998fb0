import { onePass } from '../one-pass.ts'
import { configCommand, jsonOption, pathToActOn, valued } from '../options.ts'

export const retryCommand = configCommand(
  options =>
    options
      .positional('path', { type: 'string', describe: 'Only what failed at and below this path' })
      .options({
        resend: valued(
          'Send a picture again whose upload can not be found out; it may then be on the host twice',
        ),
        ...jsonOption,
      })
      .example('$0 retry', 'Try everything again that failed')
      .example('$0 retry --resend Holiday/a.jpg', 'Send a picture again whose outcome is not known'),
  async (config, { path, resend, json }, onInterrupts) => {
    const request = { path: await pathToActOn(config, path), resend: await pathToActOn(config, resend) }
    return (await onePass(config, 'retry', request, json, onInterrupts)).exitCode
  },
)
