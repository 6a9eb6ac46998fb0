import type { Level } from 'pino'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { DaemonEvent } from '../events.ts'

/** What the process itself tells. */
export type ProcessEvent = { event: 'warning' | 'stopping' | 'stopped' }

export type LogEvent = SpokenEvent | DaemonEvent | ProcessEvent

/** Every event of the log under its stable name: how grave it is, and what has happened. */
export const LOG_EVENTS: Readonly<Record<LogEvent['event'], readonly [Level, string]>> = {
  warning: ['warn', 'something that a person should know, in `msg`'],
  stopping: ['info', 'a signal came; what is under way is finished or journaled'],
  stopped: ['info', 'all is recorded'],
  scan_started: ['debug', 'a mirror is looked at'],
  scan_finished: ['info', 'a mirror was looked at'],
  change_found: ['debug', 'something must be done about a file'],
  mirror_guarded: ['warn', 'the local truth is in doubt, and nothing is deleted meanwhile'],
  uploads_started: ['info', 'so many pictures are to be compared or sent'],
  picture_uploaded: ['info', 'the host has taken a picture'],
  picture_unchanged: ['debug', 'the bytes of a picture are on the host already'],
  picture_linked: ['info', 'an image that is there can be this picture; its bytes are yet to be compared'],
  picture_failed: ['warn', 'a picture can not be uploaded as it is'],
  picture_uncertain: ['warn', 'whether an upload arrived is not known'],
  picture_waits: ['debug', 'a picture is not sent now'],
  upload_found_out: ['info', 'whether an upload in doubt arrived'],
  uploads_stopped: ['warn', 'no more can be uploaded now'],
  album_created: ['info', 'an album was made'],
  album_deleted: ['info', 'an album that nothing needs was deleted'],
  default_album_found: ['info', "where the host puts what is for its root: the account's default album"],
  image_deleted: ['info', 'an image was deleted'],
  image_kept: ['debug', 'an image that was to go stays for now'],
  deletions_held: ['warn', 'too many images were to be deleted: they wait for a person'],
  audit_found: ['warn', 'the host shows something else than what is recorded'],
  audit_finished: ['info', 'every album was compared with the records'],
  audit_waits: ['warn', 'the host did not let an audit go on'],
  asked_for: ['info', 'a command has the daemon do something'],
  config_taken: ['info', 'the config was read again'],
  config_refused: ['error', 'the config is wrong; the one before stays'],
  key_taken: ['info', 'the API key was read again'],
  key_refused: ['error', 'the API key can not be read; the one before stays'],
  heartbeat_failed: ['warn', 'no heartbeat arrives; said once'],
  heartbeat_works: ['info', 'heartbeats arrive again'],
  trouble: ['warn', 'something needs a person; notify.on_trouble is run'],
  trouble_resolved: ['info', 'it is as it should be again'],
  trouble_command_failed: ['warn', 'notify.on_trouble did not do what it should'],
  upload_command_failed: ['warn', 'notify.on_upload did not do what it should'],
}
