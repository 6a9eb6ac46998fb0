import { count, countEach, inDigits, localTime, shellWord, spanInWords } from './text.ts'

/** The state of a path, a mirror, a machine or the store, and what happens next. For the rules see reason-words.ts. */
export const STATE_WORDS = {
  // What `why` says of a path (src/daemon/report).
  in_sync: 'as the file was when it was last read',
  in_sync_flat: ({ album }: { album: string }) =>
    `on the host, but in ${album === '' ? 'no album' : `the album "${album}"`}, because its own album was not available`,
  /** `path`: of the first of the pictures. Null: it is not named. */
  gone_on_host: ({ pictures, path = null }: { pictures: number; path?: string | null }) =>
    pictures === 1
      ? `An audit did not find the image of ${path ?? 'a picture'} on the host. "albumd audit --repair" uploads the picture again`
      : `An audit did not find the images of ${path === null ? count(pictures, 'picture') : `${path} and ${inDigits(pictures - 1)} more`} on the host. "albumd audit --repair" uploads the pictures again`,
  linked_by_name:
    'an image of this name, these dimensions and this size was on the host; the bytes are not compared yet',
  cause_not_recorded: 'what went wrong is not recorded',
  since_then: '{before:reason} (since then {now:reason})',
  not_scanned: 'there, and no scan has seen it yet',
  not_visible: "File can't be looked at ({words}). {code:remedy}",
  in_no_mirror: '{path} lies in no mirror; {mirrors:mirrors}',
  in_several_mirrors: '{path} is in more than one mirror ({folders}). Give its whole path',
  no_mirror: '{path} is no mirror; {mirrors:mirrors}',
  not_known: 'No such file, and no record of one',
  folder_mirrored: 'part of the mirror',
  folder_gone: (gone: ImagesOfFolder | null) => `the folder is gone${gone ? imagesOfFolder(gone) : ''}`,
  image_deleted: 'the image was deleted ({why:reason})',
  last_event: 'the last event is "{event}"',

  // Why something on the disk is not mirrored. `at`: the folder above that is left out. Null: the path itself is left out.
  hidden_name: '{at:within}hidden, because the name begins with a dot',
  system_folder:
    '{at:within}a folder for thumbnails, snapshots or deleted files of the system; "!{name}/" in mirrors[].ignore mirrors it',
  symbolic_link: '{at:within}a symbolic link, and albumd follows none',
  special_file: '{at:within}no regular file',
  rule_ignores: '{at:within}hidden by the rule {rule:rule}',
  other_format: ({ extension, known }: { extension: string; known: string[] }) =>
    `${extension ? extension.slice(1).toUpperCase() : 'a file without an extension'} is none of the formats that the host takes${known.length > 0 ? ` (${known.join(', ')})` : ''}`,
  empty_file: '{at:within}empty',
  ignore_file: '{at:within}the ignore rules of this folder',

  // What happens next with a picture.
  looked_at_again: 'albumd looks at it again',
  will_be_uploaded: 'albumd uploads it',
  will_be_compared: 'albumd compares its bytes with those of its image, and uploads it only if they differ',
  flat_stays: 'stays where it is until the picture changes',
  outside_hours: 'uploads wait for their hours (uploads.hours)',
  quota_used_up: "waits for quota, because today's uploads are used up",
  quota_raised: 'at once with "albumd retry" without a path, if the host allows more by now',
  reserve_kept: "waits, because the rest of today's uploads is kept for new pictures (quota.reserve)",
  key_refused: '{code:refuser} refuses the key: {message:reason} ({code})',
  host_away: 'the host is away: {message:reason} ({code})',
  endpoint_blocked: '{endpoint:uses} wait: {message:reason} ({code})',
  tried_again: 'albumd tries again',
  tried_once_changed: 'albumd tries again once the file changes',
  looked_for: 'to know whether it arrived, albumd looks for it on the host',
  not_mirrored: 'not mirrored',
  nothing_sent_there: 'nothing in the folder is sent meanwhile, and the images of its pictures stay',
  hidden_image_stays: 'the image stays on the host',
  not_there_yet: 'waits; "albumd why {path:shell}" says more',
  root_in_doubt: 'nothing of this mirror is sent or deleted while its folder is in doubt',
  all_paused: 'albumd is paused, and nothing is sent or deleted; to go on',
  paused_until: ({ until }: { until: number | null }) =>
    `paused${until === null ? '' : ` until ${localTime(until)}`}, so nothing is sent or deleted; "albumd resume" ends it`,

  // What happens next with an image that is in escrow.
  goes_next: '{of:image} is deleted, once everything was scanned again',
  grace_runs: '{of:image} is deleted once the grace has ended{ms:runs}',
  host_refused: 'the host refused to delete {of:image} ({why:said}){ms:again}',
  image_held: '{of:image} is held, because {held:held}',
  many_go: 'many were to be deleted together',
  many_wait: '{of:image} waits{ms:ran}, because {why:said}',
  image_stays: '{of:image} stays ({why:reason})',
  but_stays: 'but {why:reason}',
  an_older_version: 'an older version',
  hidden_by_rule: 'hidden by an ignore rule',
  dry_run: 'a dry run asks the host for nothing',
  album_unused: 'nothing is in it any more',
  first_needs_album: 'made where it is missing',

  // What a person can do. A colon and the command follow these words.
  run_sync: 'albumd does not run; to go on',
  later_sync: 'the first "albumd sync" after that goes on',
  goes_by_sync: 'albumd does not run, and would give the image a grace first; to delete it at once',
  run_daemon: 'albumd does not run, and the grace passes only while it runs; to start it',
  compare_links: 'to compare the bytes',
  repair_gone: 'no pass puts back an image that is gone from the host; to upload its picture again',
  kept_stays:
    'the image stays, and is used again when the picture comes back; delete it at the host to end its address',
  kept_once: 'the image was kept once, so it stays for good',
  prune_ignored: 'the image stays on the host; to delete the images of all pictures that a rule hides',
  retry_now: 'to try at once',
  resend: 'to have it sent again, at the risk of having it twice',
  approve: 'to let {images:images} be deleted',
  bring_back: 'to bring the folder back as it was, moved and edited pictures too',
  end_grace: 'to let {images:images} be deleted without a grace',
  keep: 'to keep {images:images} for good',

  // What status and doctor say of what waits.
  deletions_wait: ({ deletions }: { deletions: number }) =>
    `${inDigits(deletions)} ${deletions === 1 ? 'deletion is' : 'deletions are'} held until a person decides`,
  failed_with_image:
    '{pictures:pictures} that failed, with an older image on the host; {restore} brings it back',
  linked_pictures:
    '{pictures:pictures} linked to images that were there, by name and size; "albumd adopt --verify" compares the bytes',
  flat_pictures:
    '{pictures:pictures} outside their albums, which were not available, until they change; "albumd ls" shows them as flat',
  kept_pictures: '{pictures:pictures} gone, with images kept for good; "albumd ls" shows them as kept',
  left_out_with_image: '{pictures:pictures} left out, with images kept',
  mirror_holds:
    'In {folder} {why:reason}. "albumd deletions list" shows them; "approve" has them done, "discard" keeps the images',
  many_deletions:
    'Many images of {folder} go together, so {deletions:wait}{until:until}{ms:ran} (in {folders:folders}). "albumd deletions approve" ends the wait, "discard" keeps what waits',
  no_sign_of_life:
    'albumd has given no sign of life for {ms:span}. Look for a disk or a network mount that hangs',
  config_refused: 'The new config was refused, so the old one stays ({said})',
  other_config: 'albumd runs with another config',
  key_not_read: "The key can't be read any more, so the next start fails ({said}). Mend its file",
  waits_too_long: 'A picture has waited for {ms:span} to be on the host. "albumd status" says why',
  folders_not_watched: "{folders:number} folders can't be watched, and are looked at every minute instead",
  folders_polled: 'no event shows every change in {polled:paths}, so albumd looks there again and again too',
  quota_ends_early:
    'The host says that the quota is used up after {used:number} of {limit:number} uploads. Correct host.daily_quota, or see what else uses the account',
  notify_fails: 'notify.{name} fails ({said}). Mend it',
  store_is_away:
    'The store of account.shared is away ({said}). Until it answers, uploads go on at account.when_away of the rate, and deletions wait',
  guard_stops_deletions: 'nothing is deleted while {folder} is guarded',
  backlog_takes: ({ pictures, today, ms, nextDay, perDay, kept }: BacklogFacts) => {
    const rest = pictures - today
    const begins = nextDay === null ? "once the host's next day begins" : `after ${localTime(nextDay)}`
    const reserve = kept > 0 ? ` (quota.reserve keeps ${inDigits(kept)} for new ones)` : ''
    const daily = rest > perDay ? ` at ${inDigits(perDay)} a day${reserve}` : ''
    const now = `about ${spanInWords(ms)} of sending`
    if (rest === 0) return `${count(pictures, 'picture')}: ${now}`
    if (today === 0) return `${count(pictures, 'picture')}: ${begins}${daily}`
    return `${count(pictures, 'picture')}: ${inDigits(today)} today in ${now}, the rest ${begins}${daily}`
  },
  rest_is_reserve: 'the rest is kept for new pictures',
  links_what_is_there: 'what the host holds already is linked, not uploaded',
  pictures_wait: 'still to be uploaded, {pictures} ({why:inner}){why:remedy_of}',
  uncertain_before: ({ pictures }: { pictures: number }) =>
    `of ${count(pictures, 'upload')} nobody knows whether ${pictures === 1 ? 'it' : 'they'} arrived, and the next pass asks the host first`,
  failed_before: ({ pictures, path }: { pictures: number; path: string }) =>
    `${count(pictures, 'picture')} failed before, and ${pictures === 1 ? 'is' : 'are'} not in this plan; "albumd why ${shellWord(path)}" says when ${pictures === 1 ? 'it' : 'the first'} is tried again`,
  looked_for_again: ({ until }: { until: number | null }) =>
    `the next pass looks for it again${until === null ? '' : `, and knows after ${localTime(until)} whether it arrived`}`,

  // Which machine has an album.
  new_state: ({ album, images }: { album: string; images: number }) => {
    const holds = album === '' ? "the host's root" : `the album "${album}"`
    return `The state is new, though ${holds} holds ${count(images, 'image')} already. If state_dir is not mounted, stop albumd and mount it`
  },
  album_taken:
    'Album "{album}" belongs to the machine {machine}, last seen {seen:time}. Name another, or say "albumd trust --take-album" when {machine} is gone for good',
  album_in_use:
    'Album "{album}" belongs to the machine {machine}, which worked within the last half minute. Name another, or stop albumd there and say "albumd trust --take-album" half a minute later',
  state_copied:
    'Another albumd works with a copy of this state folder. Stop it, or name another state_dir here',

  // Why the store that the machines of an account share can't be used.
  store_not_tried: '{where} has not answered yet',
  store_lost: 'Cannot reach {where}. Check that the store runs, its address and the network',
  store_slow: '{where} did not answer within {ms} ms. Check the store and the network',
  store_full: '{where} has no memory left (OOM). Give it more, or see what else it holds',
  store_read_only: '{where} takes no writes ({said}). Check its disk, and that it is no replica',
  store_refuses:
    '{where} wants another user or password ({said}). Set them in account.shared and account.shared_password_file',
  store_tls: '{where} cannot be trusted ({code}). Check account.shared_ca_file and its certificate',
  store_no_tls:
    '{where} began no TLS within {ms} ms. Check the port, the network, and whether the store speaks TLS (rediss:)',
  store_answers: '{where} answered {said}. Read its log',
} as const

/** How many pictures wait, how many of them can be sent `today` and in how many `ms`, and then how many `perDay` from `nextDay`
 * on (ISO 8601; null: not known). `kept`: how many more `quota.reserve` keeps for new pictures. */
interface BacklogFacts {
  pictures: number
  today: number
  ms: number
  nextDay: string | null
  perDay: number
  kept: number
}

/** How many images of a deleted folder's pictures wait, are held, stay for good, or were deleted. */
type ImagesOfFolder = Record<'waiting' | 'held' | 'kept' | 'deleted', number>

function imagesOfFolder({ waiting, held, kept, deleted }: ImagesOfFolder): string {
  const told = countEach(
    [waiting, waiting === 1 ? 'waits to be deleted' : 'wait to be deleted'],
    [held, held === 1 ? 'is held' : 'are held'],
    [kept, kept === 1 ? 'is kept on the host' : 'are kept on the host'],
    [deleted, deleted === 1 ? 'was deleted' : 'were deleted'],
  )
  return told.length > 0 ? `; of the images of its pictures ${told.join(', ')}` : ''
}

/** The command by which a person ends what a reason says. */
export const COMMANDS = {
  all_paused: 'albumd resume',
  run_sync: 'albumd sync',
  goes_by_sync: 'albumd sync',
  run_daemon: 'albumd run',
  compare_links: 'albumd adopt --verify',
  repair_gone: 'albumd audit --repair',
  prune_ignored: 'albumd sync --prune-ignored',
  retry_now: 'albumd retry {path:shell}',
  resend: 'albumd retry --resend {path:shell}',
  approve: 'albumd deletions approve {path:shell}',
  bring_back: 'albumd restore {folder:shell} --at {at}',
  end_grace: 'albumd deletions approve {path:shell}',
  keep: 'albumd deletions discard {path:shell}',
} as const
