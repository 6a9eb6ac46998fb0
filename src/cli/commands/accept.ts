import type { FailureStatus } from '../../daemon/report/failures.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { count, localTime, printable } from '../../words/text.ts'
import { carryOut } from '../carry-out.ts'
import { configCommand, flag, jsonOption, pathToActOn } from '../options.ts'
import { EXIT, Problem, sayStateProblem } from '../problem.ts'
import { printJson, printLine } from '../terminal/output.ts'

export const acceptCommand = configCommand(
  options =>
    options
      .positional('path', {
        type: 'string',
        describe: 'A picture that failed, or a folder with such pictures',
      })
      .options({
        list: flag('The failures that are accepted'),
        undo: flag('Let the failure count again'),
        ...jsonOption,
      })
      .example('$0 accept Holiday/a.jpg', 'It is broken, and stays so')
      .example('$0 accept --undo Holiday/a.jpg', 'It is to count again')
      .epilogue(
        'An accepted failure counts neither as trouble (heartbeat, /healthz, notify.on_trouble) nor for the exit code of ' +
          'sync. This ends when the file has other bytes, or fails in another way. A renamed file or folder keeps it.',
      ),
  async (config, { path: given, list, undo, json }, onInterrupts) => {
    if (list === (given !== undefined) || (list && undo))
      throw new Problem('No picture is named. Name the one whose failure is accepted, or say --list alone')
    const action = list ? 'list' : undo ? 'undo' : 'accept'
    let failures: FailureStatus[]
    if (list) {
      await sayStateProblem(config)
      const { acceptedOf } = await import('../../daemon/report/failures.ts')
      const { readState } = await import('../../daemon/state/state.ts')
      failures = readState(config, synced => acceptedOf(config, synced))
    } else {
      const request = { path: (await pathToActOn(config, given))!, undo }
      failures = (await carryOut(config, 'accept', request, onInterrupts())).result.failures
    }
    if (json) printJson({ action, failures })
    else for (const line of inWords(failures, action)) printLine(line)
    return EXIT.inSync
  },
)

const AFTERWARDS = {
  list: 'accepted',
  accept: 'accepted, until the file changes or fails in another way',
  undo: 'accepted no longer',
}

function inWords(failures: readonly FailureStatus[], action: keyof typeof AFTERWARDS): string[] {
  if (failures.length === 0) return ['no failure is accepted']
  return [
    ...failures.map(({ mirror, path, message, code, accepted_at }) => {
      const since = action === 'list' ? `, since ${localTime(accepted_at!)}` : ''
      return `${printable(fullPath(mirror, path))}: ${printable(message)} (${code}${since})`
    }),
    `${count(failures.length, 'failure')} ${AFTERWARDS[action]}`,
  ]
}
