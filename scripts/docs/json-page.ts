import { CODE_OF, EXIT_OF } from '../../src/cli/problem.ts'
import { page } from './markdown.ts'
import { declaration } from './sources.ts'

/** What a command writes with `--json`: in words, and the types in the code that say it, by their files. */
interface Shape {
  commands: string
  words: string
  types?: readonly (readonly [file: string, ...names: string[]])[]
}

const SHAPES: readonly Shape[] = [
  {
    commands: 'status',
    words:
      'One object, `Status`, with what the running daemon does now beside it: `page` and `picgo_server` (their addresses) and ' +
      '`uploading` (each with `mirror`, `path`, `size` and the bytes that are `sent`) and `rate` (`bytes` and `pictures` a second; null: no daemon runs).',
    types: [
      ['src/daemon/report/status.ts', 'Status', 'AuditStatus'],
      ['src/daemon/report/mirror-status.ts', 'MirrorStatus', 'UploadWait'],
      ['src/daemon/report/failures.ts', 'FailureStatus'],
      ['src/synced/summary.ts', 'MirrorSummary'],
      ['src/local/look.ts', 'LeftOut'],
      ['src/daemon/report/quota-status.ts', 'QuotaStatus', 'BacklogStatus'],
      ['src/daemon/watch/watching.ts', 'Watching'],
      ['src/daemon/report/machines.ts', 'MachineStatus', 'StoreStatus'],
    ],
  },
  {
    commands: 'sync, retry, adopt',
    words:
      'One object with `exit_code`; how many pictures were `uploaded`, `unchanged`, `linked`, `failed` or `uncertain`; how many ' +
      'are `waiting` to be uploaded, for whatever reason, when the pass is over; `left`, all that is left then, also from earlier passes, by the names of `status`, with how many mirrors are `guarded`; how many images were `deleted` or `kept`; `albums_made` and `albums_deleted`; `not_ready`, the named files that are empty and all that may still be written, each with `path`, `reason` and the `code` `NOT_READY`; whether a person `interrupted` the pass before its end; `stopped`, the refusals of ' +
      'the host that ended the work early, each with `endpoint`, `code` and `message`; and `mirrors`, each a `MirrorStatus` as ' +
      'in `status`. While albumd is paused there is `paused` with `until`. After `sync` with paths, `exit_code` tells of these ' +
      'paths alone, and `mirrors` of all mirrors. After `adopt --verify` there is `verified`: how many linked images have `equal` bytes, ' +
      '`other` bytes, or `unknown` bytes, and `why` the first of those is not known.',
  },
  {
    commands: 'put',
    words:
      'One object with `pictures`, in the order of the arguments: each with its `path`, its delivery address `cdn_url`, and, where ' +
      "that is null, the `reason`, a sentence, and its `code`: a failure's, the host's, `NOT_READY` for a file that is empty or still being written, `INTERRUPTED` when a person ended the command, `PAUSED`, `GUARDED` when the mirror's folder is in doubt, `GONE`, `MOVED` or `LEFT_OUT` for what does not come to the host, `NOT_POSSIBLE` for what `--to` refused, or `WAITS` for anything else.",
  },
  {
    commands: 'sync --dry-run',
    words:
      'One object with `dry_run` (true), `plan`, each a `PlannedInWords`, `totals`, each with `operation`, how many `operations` and ' +
      'their `bytes`, and `notes`, lines for a person.',
    types: [['src/daemon/engine/rehearsal.ts', 'Operation', 'PlannedInWords']],
  },
  {
    commands: 'ls, url',
    words:
      'With `--json` one object: `ls` has `pictures`, `url` the fields of its picture; with `--format json` a list, or the fields. For each picture its `path` (absolute), `mirror`, `state`, whether the image is `older` than the ' +
      'file, whether it lies `flat`, its `album`, `image_id`, `cdn_url` (the delivery address; null: not known), `size`, `sha256` (of the file; null: not known), `proof` (how albumd ' +
      'knows that the bytes are the same: `uploaded`, `compared` or `none`) and `recorded_at`. With `ls --left-out` one object ' +
      'with `left_out`, each with `path`, `why` and `reason`, and with `unread`: the folders that can not be read, each with `path` and `reason`.',
  },
  {
    commands: 'why',
    words:
      'One object, `Explanation`; where several mirrors know the path, one object with a list of them in `paths`.',
    types: [
      ['src/daemon/report/explain.ts', 'Explanation', 'PathImage', 'PathDeletion', 'PathEvent'],
      ['src/daemon/report/step.ts', 'ShownStep'],
    ],
  },
  {
    commands: 'deletions',
    words: 'One object with `action` and `deletions`, each a `PendingDeletion`.',
    types: [['src/daemon/commands/deletions.ts', 'PendingDeletion']],
  },
  {
    commands: 'audit',
    words:
      'One object with `complete`, `albums`, `findings`, `repaired` (how many of them), `skipped` and `withheld`, as ' +
      '`AuditResult` tells, and with `stopped` as in `sync`.',
    types: [['src/daemon/commands/audit.ts', 'AuditResult', 'AuditFinding']],
  },
  {
    commands: 'trust',
    words: 'One object with `folder` and the fields of `TrustResult`.',
    types: [['src/daemon/commands/trust.ts', 'TrustResult']],
  },
  {
    commands: 'move-mirror',
    words: 'One object, `MovedMirror`.',
    types: [['src/daemon/commands/move-mirror.ts', 'MovedMirror']],
  },
  {
    commands: 'pause, resume',
    words:
      'One object with `paused`; after `pause` with `until` (null: until `resume`), after `resume` with `was_paused`.',
  },
  {
    commands: 'restore',
    words:
      'One object with `problems` (each with `path`, `to` below `folder`, `code` and `message`), `exit_code`, `folder`, and the fields of ' +
      '`RestoreReport`.',
    types: [['src/daemon/restore/restore.ts', 'RestoreReport', 'Note']],
  },
  { commands: 'backup', words: 'One object with `file` and its size in `bytes`.' },
  {
    commands: 'doctor',
    words: 'One object with `exit_code` and `findings`, each a `Finding`.',
    types: [['src/daemon/doctor/finding.ts', 'Finding']],
  },
  {
    commands: 'service status',
    words:
      'One object with `unit`, `file`, `installed`, `current` (whether the file is as this albumd would write it), `enabled`, ' +
      "`state` and `result` (systemd's words), `pid` and `restarts`.",
  },
  {
    commands: 'host',
    words:
      'One line when it listens: `base_url`, `site_url`, `cdn_base_url`, `api_key`, `ca_file` and `port`.',
  },
]

/** The codes of errors that a person can correct. `put` has the last one. */
const ERROR_CODES = new Set([...Object.values(CODE_OF), ...Object.keys(EXIT_OF), 'NAME_NOT_UTF8'])

export function jsonPage(): string {
  return page(
    'JSON',
    'For programs. With `--json` a command writes one object on standard output. Times are ISO 8601 in UTC. Fields may be added; those that ' +
      'are here keep their names. Every object begins with `schema`: 1, and the number grows when a field gets another meaning. An error is one object too, `{"schema": 1, "error": {"code", "message"}}`, with the same exit code; `NAME_NOT_UTF8` has the `path` beside, `url` of a picture that is not on the host the `cause`, a code as `put` has it. The types ' +
      'are the ones in the code.',
    `The codes of errors: ${[...ERROR_CODES]
      .sort()
      .map(code => `\`${code}\``)
      .join(', ')}, and others that begin with \`STATE_\`. With another code the error is unexpected.`,
    ...SHAPES.flatMap(({ commands, words, types = [] }) => [
      `## ${commands}`,
      words,
      ...(types.length === 0 ? [] : [['```ts', types.map(declarations).join('\n\n'), '```'].join('\n')]),
    ]),
  )
}

function declarations([file, ...names]: readonly [string, ...string[]]): string {
  return names.map(name => declaration(name, file)).join('\n\n')
}
