import { CERTIFICATE_ERRORS, CONNECTION_ERRORS, readRemedy } from './system-errors.ts'
import { inDigits, localTime, shellWord, spanInWords } from './text.ts'

/*
 * Why a picture waits, why an image stays, why a folder is in doubt: each reason is a code with its facts. This file holds
 * the words of every code: a text that names its facts in braces, or a function when the facts decide the text. A new reason
 * takes two edits: its words here, and the place that raises it with `because(code, facts)`. A code without words does not
 * compile, and test/words finds a code that nothing raises. COMMANDS, below, holds what a person can do about a reason.
 */

const OTHER_ACCOUNT =
  'the key was changed, and its account shows none of the recorded images: the key belongs to another account, or the images were deleted'
const OLD_KEY = 'put the old key back; or, to use the other account, name another state_dir'

const trust = (folder: string) => `"albumd trust ${shellWord(folder)}"`

interface Counts {
  albums: number
  images: number
}

const WORDS = {
  /** What the host said, in the host's own words. */
  said: '{words}',

  // What the scan found of a file.
  new: 'new',
  touched: 'only its attributes changed: its bytes are compared',
  there_again: 'there again',
  size_changed: 'changed: {before} bytes became {now}',
  time_changed: 'changed: another modification time',
  file_replaced: 'replaced by another file',
  left_out: 'there, but left out; its image stays',
  perhaps_renamed: 'not known whether it is gone: a name in its folder is not valid UTF-8; rename that file',
  kept_by_backup: 'gone from the disk; this mirror keeps images',
  gone: 'gone from the disk',
  gone_unsent: 'gone from the disk, before it was on the host',
  ignored_on_request: 'hidden by an ignore rule, and asked for',
  name_not_utf8:
    'its name is not valid UTF-8; rename it. Until then nothing that is missing from its folder counts as deleted',
  entry_unreadable: '{words}',

  // What keeps a file from being read.
  file_vanished: 'it is no longer there',
  file_moved: 'it was moved or replaced while albumd opened it',
  file_not_regular: 'it is no longer a regular file',
  file_became_link: 'it became a symbolic link',
  file_changed: 'it changed while albumd read it',
  file_shorter: 'it became shorter while albumd read it',
  file_cut_off: 'albumd ended before it was read',
  file_unreadable: "it can't be read ({code}); {code:remedy}",
  still_written: 'it is still being written',

  // What keeps folders from being watched, and what a person can do.
  events_lost:
    'So much changed at once that albumd may have missed some changes; all folders are looked at again.',
  longer_queue: () =>
    `When this happens often, make the system's queue longer: ${sysctl('max_queued_events', 131_072)}.`,
  not_watched: "{path} can't be watched ({code}).",
  read_remedy: ({ code }: { code: string }) => sentence(readRemedy(code)),
  too_many_files: 'Too many files are open, so some folders are not watched.',
  raise_files: 'Raise the limit of open files (ulimit -n; LimitNOFILE= for a service).',
  watch_limit_reached: "The system's limit fs.inotify.{key} is reached, so some folders are not watched.",
  raise_limit: ({ key, value }: { key: string; value: number }) => `Raise it: ${sysctl(key, value)}.`,

  // Why a request failed. `where`: host and port.
  no_connection: '{where} {code:connection}',
  bad_certificate: 'the certificate of {where} {code:certificate}',
  no_secure_connection: 'no secure connection to {where} is possible ({code}); does it speak HTTPS?',
  connection_failed: 'the connection to {where} failed ({code})',
  not_http: '{where} answered with something that is not HTTP',
  no_answer_in_time: '{where} did not answer in time',
  answer_too_slow: '{where} did not finish its answer in time',
  answer_too_long: '{where} answered with more than {most} bytes, and was cut off',
  answered_early: '{where} answered before the whole request had been sent',
  too_many_requests: '{where} answered {status} (too many requests); albumd asks again later',
  not_of_interface:
    '{where} answered {status} in a form that is not of the interface; is the address of the host right?',
  answer_misfits: ({ where, status, field }: { where: string; status: number; field?: string }) =>
    `${where} answered ${status} with ${field ? `a field that does not fit the interface: ${field}` : 'something that is not of the interface'}`,
  answer_of_another: '{where} answered {status} with the answer to another request',
  redirects:
    '{where} redirects to another address, which albumd does not follow; set host.base_url to the final address',
  host_refused_with: 'the host answered {code}',
  refused_by_node: 'the upload node refused it: {why:reason}',
  asked_to_wait: '{why:reason}; the host asks to wait until {until:time}',
  request_cancelled: 'the request was cancelled',
  address_not_https:
    'the host gave an address ({field}) that is not a plain HTTPS address; albumd does not use it',
  address_with_key:
    'the host gave an address (cdn_url) that contains the API key; albumd does not use it, because it would be stored and shown. A key of a few letters can be in it by chance: use a longer key',
  delivers_more: 'the host delivers more than {most} bytes',
  presign_without_album:
    'host.upload_form presign cannot put a picture into an album: only pictures directly in a mirror with the album "" are sent; set it to credential',
  picture_changed: 'the picture changed while it was being sent',
  line_too_slow:
    'it would take {ms:span} at {kilobytesPerSecond} KB/s, and an upload may take {lifetimeMs:span}; it needs a faster line (or a higher uploads.bandwidth, if that is set), and is tried again by itself',
  gave_way: 'the line became too slow for all uploads at once; this picture is sent again later',
  credential_expired: 'its credential expired before it could be sent',
  reserve_for_new:
    "what is left of today's uploads is kept for new pictures (quota.reserve); older ones go on tomorrow",
  quota_refused: "the host said that today's uploads are used up",
  other_account: `${OTHER_ACCOUNT}; ${OLD_KEY}`,
  account_shows_nothing: OTHER_ACCOUNT,
  old_key_back: OLD_KEY,
  listing_changed: 'its listing kept changing while it was read',
  listed_not_known: 'the host lists it, but answers that it does not exist',

  // Why a folder or a root is in doubt.
  folder_unreadable: "it can't be read ({code}); {code:remedy}",
  folder_unmounted: ({ folder, below }: { folder: string; below: string | null }) =>
    `${below === null ? 'it' : `${below} in it`} was a mount point and is none now; mount it again, or run ${trust(folder)}`,
  folder_remounted:
    'another disk is mounted there than before; bring the old one back, or run "albumd trust {folder:shell}"',
  folder_mounted_over:
    'a disk was mounted there, and not all of the pictures are on it; unmount it, or run "albumd trust {folder:shell}"',
  folder_older:
    'an older copy of it is there, without the newest pictures; bring the newer one back, or run "albumd trust {folder:shell}"',
  folder_emptied:
    'all of its {pictures} pictures are gone at once; bring them back, or run "albumd trust {folder:shell}"',
  ignore_file_unreliable: "its ignore file can't be read ({why})",
  ignore_file_vanished:
    'its ignore file has just vanished; when it stays away for some seconds, albumd goes on without it',
  folder_in_doubt: ({ path, why }: { path: string; why: Reason }) =>
    `nothing is deleted while a folder is in doubt: ${path || 'the root'}: ${inWords(why)}`,
  root_not_a_folder: '{folder} is not a folder; is its disk mounted?',
  root_moved: '{folder} was moved there, and the next scan looks at all of it',
  root_not_moved:
    'of {known} pictures that were looked for, {there} are in {folder} with the size and time that albumd knows; most must be. A copy keeps the times with cp -a',
  root_missing: '{folder} is not there; is its disk mounted?',
  root_unreadable: "{folder} can't be read ({code}); {code:remedy}",
  root_empty:
    '{folder} is empty and held pictures before: mount its disk, or run "albumd trust {folder:shell}" if it is meant to be so',
  root_other:
    '{folder} is another folder than before: bring the old one back, or run "albumd trust {folder:shell}" if it is meant to be so',
  root_older:
    '{folder} is another folder than before, and not all of the pictures are in it: bring the old one back, or run "albumd trust {folder:shell}" if it is meant to be so',
  mirrored_by_another: '{folder}: another albumd mirrors this folder',
  root_replaced: '{folder} was replaced',
  root_replaced_in_scan: '{folder}: it was replaced while it was looked at',
  root_lost_in_scan: '{folder}: {words}',
  scan_ended: 'nothing is deleted: the last scan did not come to its end',
  trusted: '{path} is trusted as it is: the next scan takes it as the truth',

  at_path: '{path}: {why:reason}',

  // Why an image stays.
  kept_for_good: 'it is kept for good',
  in_use: 'another file uses the same image',
  perhaps_anothers:
    'its album is shared with other machines, and it was found there: it may be the image of another machine',
  claim_in_doubt:
    "nothing is deleted while the shared store has not confirmed that the albums are still this machine's; uploads go on",
  may_have_moved: 'a picture of the same size has no image yet: it may be the same picture, moved',
  mount_gone: '{path} was a mount point and is none now',
  location_unseen: "{path} can't be looked at",
  other_mirror_unseen: "a picture of another mirror used it, and that mirror can't be looked at",
  other_mirror_keeps: 'another mirror keeps it',
  file_there_again: '{path} is there again',
  not_in_its_album:
    "its album does not list it: it may be somebody else's image of equal bytes, in another album",
  album_not_listed: "its album can't be looked at: {why:reason}",
  bytes_differ: 'its bytes are those of another picture: it belongs to somebody else',
  bytes_not_compared: "it was linked by its name alone, and its bytes can't be compared: {why:reason}",
  address_not_known: 'no upload has shown yet how its delivery address would look',
  address_answered: 'its delivery address answered {status}',
  delivery_alters: 'the host does not deliver pictures as they were sent',
  paused: 'albumd is paused',
  album_needed: 'something is in it, or on its way there',

  // Why a picture waits or failed.
  folder_replaced: 'its folder was replaced since it was scanned',
  same_address:
    'the host promises the address of its old image, so nobody could tell whether the new image arrived; it stays where it is',
  sent_later: 'it is sent once uploads go on',
  not_a_picture: 'its bytes are no picture of a known format',
  incomplete: 'it is not complete: {missing}; it may still be written',
  blank: 'part of it is only zeros; it may still be written',
  stays_incomplete:
    'it is not complete: {missing}; it is left until it changes; to have such pictures sent as they are, set watch.incomplete to send, then run "albumd retry"',
  too_large:
    'it is too large: the host refused a file of {refused} bytes (plan {plan}); it is tried again when the file gets smaller, when host.plan changes, or after a day',
  perhaps_sent_before_loss:
    'it may be on the host already: the state was lost or restored, and the plan does not list albums; "albumd retry --resend" uploads it all the same',
  album_refused: 'the host refuses the album where it belongs',
  older_version_open: 'albumd is finding out whether an earlier version of it arrived',
  older_version_alike: `one of its album's images is an earlier version of it, and nothing tells which one; it is tried again, and "albumd retry --resend" uploads it again`,
  images_alike: `{images} images of its album can be this picture, and their bytes can't be compared: {why:reason}; it is tried again, and "albumd retry --resend" uploads it again`,
  linked_image_alike: `the image that was linked to it can be this version too, and its bytes can't be compared: {why:reason}; it is tried again, and "albumd retry --resend" uploads it again`,
  not_on_host: 'it is not on the host',
  host_not_asked: 'the host could not be asked whether it is there: {why:reason}',
  upload_failed: '{why:reason} ({code})',
  cut_off: 'its upload was cut off when albumd ended',
  uncertain:
    'it may be on the host or not: {why:reason}; albumd looks for it there, and does not send it again before it knows',
  album_deletion_open: 'albumd is finding out whether its album was deleted',
  sent_before_loss:
    'the state was lost while albumd worked: earlier uploads may still arrive at the host, so nothing is sent before their credentials have expired',
  same_bytes_sent: 'these bytes were sent before, and it is not known whether they arrived',
  id_of_another: 'the host answered with the id of another picture',
  album_asked_for:
    'the album "{name}" was asked for a short time ago and is not listed; it is looked for again before another is made',
  album_of_several:
    'the album "{name}" may be needed by other machines too, so it is not created before the shared store answers',
  album_twice:
    'two albums are called "{name}"; albumd uses the other one when it has found out whether an upload into the first one arrived',
  album_not_known:
    'the album "{name}" may be there or not, and the plan does not list albums; its pictures wait',
  listing_changes: 'the listing of an album changed while it was read, again and again; it is tried later',
  listing_endless: 'the host lists images or albums without end: more than {most}; it is tried later',

  // What became of a picture or an image.
  moved_from: 'moved from {path}',
  old_image_goes: 'its old image is to be deleted',
  old_image_stays: 'its old image stays',
  bytes_on_host: 'its bytes are on the host',
  found_as_promised: 'the host has it under the address or the id that it had promised',
  found_by_bytes: 'its bytes were fetched and are the same',
  found_alike: 'an image of its name and dimensions came; its bytes are not compared yet',
  image_kept: 'its image stays on the host for good',
  image_gone: 'its image is not on the host any more',
  image_not_found: 'the audit did not find its image on the host',
  image_refuted: "the image that was linked to it has other bytes: it is another's",
  picture_gone: 'the picture is gone from the disk',
  older_version: 'it was of an older version',
  rule_hides: 'a rule hides the picture',
  picture_moved: 'the picture moved to {path}',

  // What a host says of an album's deletion.
  deleted_more: ({ album, recorded, deleted }: { album: string; recorded: Counts; deleted: Counts }) =>
    `the host deleted more with the album "${album}" than was recorded in it: ${deleted.images} images and ` +
    `${deleted.albums} albums in place of ${recorded.images} and ${recorded.albums}; somebody else may have put them ` +
    'there. "albumd audit" names recorded images that are gone; until it has ended, no whole album is deleted',

  // What the audit found.
  not_listed: 'the host does not list it any more',
  twin_in_use: 'albumd uploaded it, and another image of the same bytes is used by its file',
  deletion_undone: 'albumd deleted it, and the host still has it',
  looks_like: 'albumd has no record of it; it looks like {id} of the same name, which is recorded',
  not_recorded: 'albumd has no record of it',
  differs: ({ differences }: { differences: Reason[] }) => differences.map(inWords).join('; '),
  name_differs: 'its name is "{listed}" there, not "{name}"',
  dimensions_differ: 'it has {listed} pixels there, not {recorded}',
  size_differs: 'its size is {listed} there, not {size} bytes',
  in_other_album: ({ album, recorded }: { album: string; recorded: string }) =>
    `it is in ${album || 'the root'}, not in ${recorded || 'the root'}`,

  // What `why` answers about a path (src/sync/outlook).
  in_sync: 'its image has the bytes that it had when it was last read',
  in_sync_flat: ({ album }: { album: string }) =>
    `the picture is on the host, but in ${album === '' ? 'no album' : `the album "${album}"`}, because its own album could not be had`,
  linked_by_name:
    'an image of its name, dimensions and size was on the host already; their bytes are not compared yet',
  cause_not_recorded: 'what went wrong is not recorded',
  since_then: '{before:reason} (since then: {now:reason})',
  not_scanned: 'it is there, and no scan has seen it yet',
  not_visible: "it can't be looked at: {words}",
  not_known: 'it is not there, and nothing is known of it',
  folder_mirrored: 'its pictures are mirrored',
  folder_gone: (gone: { waiting: number; held: number; deleted: number } | null) =>
    `the folder is gone${gone ? imagesOfFolder(gone) : ''}`,
  image_deleted: 'its image was deleted: {why:reason}',
  last_known: 'it is not there any more: {why:reason}',
  last_event: 'it is not there any more: {event}',

  // Why something on the disk is not mirrored. `at`: the folder above the path that is left out; null: the path itself is.
  hidden_name: '{at:within} is hidden: its name begins with a dot',
  system_folder:
    '{at:within} is a folder in which the system keeps thumbnails, snapshots or deleted files. To mirror it, add "!{name}/" to mirrors[].ignore of the config',
  symbolic_link: '{at:within} is a symbolic link: a picture is mirrored where it really lies',
  special_file: '{at:within} is no regular file',
  rule_ignores: ({ at, pattern, file, line }: RuleAt) =>
    `${KINDS.within(at)} is hidden by the rule ${pattern} in ${file === null ? 'mirrors[].ignore of the config' : `line ${line} of ${file}`}`,
  other_format: ({ extension, known }: { extension: string; known: string[] }) =>
    `${extension ? extension.slice(1).toUpperCase() : 'a file without an extension'} is none of the formats that the host takes: ${known.join(', ')}`,
  empty_file: '{at:within} is empty',
  ignore_file: '{at:within} holds ignore rules for its folder',
  not_utf8:
    '{at:within} has a name that is not valid UTF-8, and that is written {name} here: rename it; until then nothing that is missing from its folder counts as deleted',

  // What happens next with a picture.
  looked_at_again: 'it is looked at again',
  will_be_uploaded: ({ ahead }: { ahead: number }) =>
    ahead > 0 ? `it is uploaded: ${ahead} other pictures wait as well` : 'it is uploaded',
  flat_goes: 'it is sent again, into its own album, once the host makes albums and quota is left',
  flat_refused:
    'it stays where it is, because the host refuses its own album; "albumd retry" has the host asked again',
  flat_stays: 'it stays where it is ({why})',
  settles: 'it must be left alone for watch.settle first',
  outside_hours: 'uploads wait for their hours (uploads.hours)',
  quota_used_up: ({ known }: { known: boolean }) =>
    `it waits for quota: today's uploads are used up; ${known ? 'it goes on' : 'the host is asked again'}`,
  reserve_kept: "what is left of today's uploads is kept for new pictures (quota.reserve); it goes on",
  uploads_blocked: 'the host takes no uploads: {message:reason} ({code}); it is tried again',
  node_blocked: 'the upload node takes nothing: {message:reason} ({code}); it is tried again',
  listing_blocked:
    'albums are looked at before the first upload, and the host does not list them: {message:reason} ({code}); it is tried again',
  deletions_blocked: 'but the host deletes nothing: {message:reason} ({code}); it is tried again',
  will_fail: '{why:reason}: it will fail',
  waits_to_be_whole: ({ why, becomes }: { why: Reason; becomes: 'sent' | 'failed' }) =>
    `${inWords(why)}: it is uploaded once it is whole; if it stays so, ${becomes === 'sent' ? 'it is sent as it is' : 'it is a failure until it changes'}`,
  tried_again: 'it is tried again',
  tried_once_changed: 'it is tried again once the file changes',
  looked_for: 'albumd looks for it on the host, and finds out by this time whether it arrived',
  rename_first: 'until {name} has another name, nothing that is missing from its folder counts as deleted',
  not_mirrored: 'it is not mirrored',
  hidden_image_stays: 'its image stays on the host',
  root_in_doubt: 'nothing of this mirror is sent or deleted while its folder is in doubt',
  all_paused: 'albumd is paused: nothing is sent or deleted',
  paused_until: ({ until }: { until: number | null }) =>
    `paused${until === null ? '' : ` until ${localTime(until)}`}: nothing is sent or deleted; "albumd resume" ends it`,

  // What happens next with an image that is in escrow.
  goes_next: '{of:image} is deleted, once everything was scanned again',
  grace_runs:
    '{of:image} is deleted once the grace has ended: when albumd has run for about {minutes} more min',
  host_refused: ({ of, minutes, why }: OfImage & { minutes: number; why: Reason | null }) =>
    `the host refused to delete ${IMAGES[of]} (${why ? inWords(why) : 'it has not said why'}): it is tried again when albumd has run for about ${minutes} more min`,
  image_stays: '{of:image} stays: {why:reason}',
  but_stays: 'but {why:reason}',
  doubt_elsewhere: 'but nothing is deleted while a folder is in doubt: {why:reason}',
  an_older_version: 'an older version',
  hidden_by_rule: 'hidden by an ignore rule',
  moved_away: 'moved: its image is deleted once the picture is uploaded in its new place',
  first_needs_album: 'its first picture needs it',

  // What a person can do. The command follows these words.
  run_sync: 'albumd does not run: it goes on with',
  run_sync_then: 'albumd does not run: after that it goes on with',
  run_daemon: 'albumd does not run, and the grace passes only while it runs: start it with',
  compare_links: 'its bytes are compared with',
  kept_stays: 'its image stays; a file with the same bytes that comes back finds it again',
  prune_ignored: 'its image stays on the host; images of pictures that a rule hides are deleted with',
  retry_now: 'or at once with',
  accept_failure: 'or accept the failure, so that it counts as no trouble until the file changes, with',
  failure_accepted:
    'its failure is accepted: it counts as no trouble until the file changes or fails in another way; take that back with',
  resend: 'or have it sent again, at the risk of having it twice, with',
  approve_image: ({ of, held }: OfImage & AtPath & { held: 'held' | 'unproved' }) =>
    `${IMAGES[of]} is held (${held === 'held' ? 'too many were to be deleted at once' : 'it was only linked, and its bytes could not be compared'}): let it be deleted with`,
  keep_image: 'or keep {of:image} for good with',
  approve_folder: 'let what is held be deleted with',
  keep_folder: 'or keep what is held for good with',

  // What status and doctor say of what waits.
  deletions_wait: ({ deletions }: { deletions: number }) =>
    `${inDigits(deletions)} ${deletions === 1 ? 'deletion is' : 'deletions are'} held until a person decides`,
  rest_is_reserve: 'the rest is kept for new pictures',
  looked_for_again: ({ until }: { until: number | null }) =>
    `it is looked for again${until === null ? '' : `, at ${localTime(until)} at the latest`}`,
  looked_for_by_sync: '"albumd sync" looks for it again',

  // Why the store that the machines of an account share can't be used.
  store_not_tried: '{where} has not answered yet',
  store_lost: '{where} cannot be reached; check that the store runs, its address and the network',
  store_slow: '{where} did not answer within {ms} ms; check the store and the network',
  store_full: '{where} has no memory left (OOM); give it more, or see what else it holds',
  store_read_only: '{where} takes no writes ({said}); check its disk, and that it is no replica',
  store_refuses: '{where} refuses the password or the user ({said}); check account.shared_password_file',
  store_tls: '{where} cannot be trusted ({code}); check account.shared_ca_file and its certificate',
  store_answers: '{where} answered {said}; its log may tell more',
} as const

const sentence = (words: string) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`

const sysctl = (key: string, value: number) =>
  `sudo sysctl fs.inotify.${key}=${value}, and the same line in /etc/sysctl.d to keep it`

/** Where an ignore rule stands. `file`: the ignore file; null: the config. */
interface RuleAt {
  at: string | null
  pattern: string
  file: string | null
  line: number
}

/**
 * Which image is meant: the picture's image, the image of its older version, or the first waiting image of a folder that is
 * gone.
 */
interface OfImage {
  of: 'image' | 'older' | 'first'
}

/** `path`: absolute. */
interface AtPath {
  path: string
}

const IMAGES: Record<OfImage['of'], string> = {
  image: 'its image',
  older: 'the image of its older version',
  first: 'the first of the waiting images',
}

function imagesOfFolder({ waiting, held, deleted }: Record<'waiting' | 'held' | 'deleted', number>): string {
  const images = [
    [waiting, waiting === 1 ? 'waits to be deleted' : 'wait to be deleted'],
    [held, held === 1 ? 'is held' : 'are held'],
    [deleted, deleted === 1 ? 'was deleted' : 'were deleted'],
  ] as const
  const told = images.flatMap(([n, what]) => (n > 0 ? [`${n} ${what}`] : []))
  return told.length > 0 ? `; of the images of its pictures ${told.join(', ')}` : ''
}

/** For a reason that a person can do something about: the command that does it. */
const COMMANDS = {
  all_paused: 'albumd resume',
  run_sync: 'albumd sync',
  run_sync_then: 'albumd sync',
  run_daemon: 'albumd run',
  compare_links: 'albumd adopt --verify',
  prune_ignored: 'albumd sync --prune-ignored',
  retry_now: 'albumd retry {path:shell}',
  accept_failure: 'albumd accept {path:shell}',
  failure_accepted: 'albumd accept --undo {path:shell}',
  resend: 'albumd retry --resend {path:shell}',
  approve_image: 'albumd deletions approve {path:shell}',
  keep_image: 'albumd deletions discard {path:shell}',
  approve_folder: 'albumd deletions approve {path:shell}',
  keep_folder: 'albumd deletions discard {path:shell}',
} as const

/** Reasons that end by themselves within moments, so nobody has to do anything. */
const PASSING = ['ignore_file_vanished', 'scan_ended', 'root_moved'] as const satisfies readonly ReasonCode[]

/** How a fact is shown: `{at:time}` shows the fact `at` by `KINDS.time`. A fact without a colon is shown as it is. */
const KINDS = {
  /** A fact that is itself a reason. */
  reason: (why: Reason) => inWords(why),
  time: localTime,
  span: spanInWords,
  shell: shellWord,
  /** The system's error code, shown as what a person can do. */
  remedy: readRemedy,
  connection: (code: string) => CONNECTION_ERRORS[code],
  certificate: (code: string) => CERTIFICATE_ERRORS[code],
  /** The folder above the path that is left out; null when the path itself is left out. */
  within: (at: string | null) => (at === null ? 'it' : `${at}, in which it lies,`),
  image: (of: OfImage['of']) => IMAGES[of],
}
type Kinds = typeof KINDS

type Words = typeof WORDS
export type ReasonCode = keyof Words
/** Every code. */
export const CODES = Object.keys(WORDS) as ReasonCode[]

/** The facts that a text names, each fact as `{name}` or `{name:kind}`. */
type Named<Text> = Text extends `${string}{${infer Fact}}${infer Rest}` ? Fact | Named<Rest> : never
type FactOf<Fact> = Fact extends `${string}:${infer Kind extends keyof Kinds}`
  ? Parameters<Kinds[Kind]>[0]
  : string | number
type FactsIn<Fact extends string> = [Fact] extends [never]
  ? []
  : [{ [F in Fact as F extends `${infer Name}:${string}` ? Name : F]: FactOf<F> }]
type CommandOf<C> = C extends keyof typeof COMMANDS ? (typeof COMMANDS)[C] : never
type Facts<C extends ReasonCode> = Words[C] extends (...facts: infer Given) => string
  ? Given
  : FactsIn<Named<Words[C]> | Named<CommandOf<C>>>

declare const brand: unique symbol

/**
 * A code with its facts, as compact text: a column, an event or a line of the log can carry it. Only `codeOf` and `inWords`
 * read it. Its type is declared as a symbol, because TypeScript refuses a symbol in a template string: a reason that is not
 * turned into words does not compile there.
 */
export type Reason = symbol & { readonly [brand]: 'reason' }

export function because<C extends ReasonCode>(code: C, ...facts: Facts<C>): Reason {
  return JSON.stringify([code, ...facts]) as unknown as Reason
}

/** The reason that the host gave, in the host's own words. */
export function said(words: string): Reason {
  return because('said', { words })
}

/** Why an image is in escrow, for each reason that an escrow entry can record. */
export const WHY_IN_ESCROW = {
  deleted: because('gone'),
  superseded: because('an_older_version'),
  ignored: because('hidden_by_rule'),
} satisfies Record<string, Reason>

export function codeOf(why: Reason): ReasonCode {
  return parsed(why)[0]
}

/**
 * The reason with this code: `why` itself, or else the reason that stands inside `why` as its fact `why`. Null when neither
 * has the code.
 */
export function reasonIn(why: Reason, code: ReasonCode): Reason | null {
  const [its, facts] = parsed(why)
  if (its === code) return why
  const inner = (facts as { why?: Reason } | undefined)?.why
  return inner === undefined ? null : reasonIn(inner, code)
}

/** Whether a reason ends by itself within moments. A reason inside of it counts as well. */
export function endsByItself(why: Reason): boolean {
  return PASSING.some(code => reasonIn(why, code) !== null)
}

/** The words of a reason, for a person. */
export function inWords(why: Reason): string {
  const [code, facts] = parsed(why)
  // An unknown code is shown as it is. A newer albumd may have written it.
  const words: string | ((facts: never) => string) = WORDS[code] ?? code
  return typeof words === 'string' ? filled(words, facts) : words(facts as never)
}

/** The command that a person can copy into a shell, or null. */
export function commandOf(why: Reason): string | null {
  const [code, facts] = parsed(why)
  const command: string | undefined = COMMANDS[code as keyof typeof COMMANDS]
  return command === undefined ? null : filled(command, facts)
}

function filled(text: string, facts: unknown): string {
  return text.replace(/\{(\w+)(?::(\w+))?\}/g, (_, name: string, kind: keyof Kinds | undefined) => {
    const fact = (facts as Record<string, never>)[name] as never
    return String(kind === undefined ? fact : KINDS[kind](fact))
  })
}

function parsed(why: Reason): [ReasonCode, unknown] {
  return JSON.parse(why as unknown as string)
}
