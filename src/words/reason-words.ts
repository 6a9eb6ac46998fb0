import { localTime } from './text.ts'

/*
 * Why a picture waits, why an image stays, why a folder is in doubt: the words of each code, as a text that names its facts
 * in braces, or a function where the facts decide the text. What is so now and what comes next stands in state-words.ts. A
 * text that stands alone says what is so, then what to do, in at most two sentences; one that completes another line
 * ("pending: new") begins with a small letter. test/words holds the rules.
 */
export const REASON_WORDS = {
  /** The host's own words. They become part of a longer line, so the full stop at their end is left out. */
  said: ({ words }: { words: string }) => words.replace(/(?<!\.)\.$/, ''),
  /** Stands for a code without words. Another version of albumd has recorded it. */
  unknown_code: 'another version of albumd recorded why, and this version has no words for it ({code})',

  // What the scan found of a file.
  new: 'new',
  touched: 'only the attributes changed, so the bytes are compared',
  there_again: 'there again',
  size_changed: 'changed from {before} to {now} bytes',
  time_changed: 'changed, with another modification time',
  file_replaced: 'replaced by another file',
  left_out: 'there, but empty or a link; the image stays',
  perhaps_renamed:
    'Not known whether this picture is gone, because a name in its folder is not valid UTF-8. Rename that file',
  kept_by_backup: 'gone from the disk; this mirror keeps images',
  gone: 'gone from the disk',
  gone_unsent: 'gone from the disk before it was on the host',
  gone_uncertain: 'gone from the disk before it was known whether its upload arrived',
  gone_after_lost: 'gone from the disk, and its image from the host before',
  ignored_on_request: 'hidden by an ignore rule, with --prune-ignored',
  name_not_utf8:
    'File name is not valid UTF-8. Rename it; until then nothing in its folder counts as deleted',

  // What keeps a file from being read.
  file_vanished: 'file is no longer there',
  file_moved: 'file was moved or replaced while albumd opened it',
  file_not_regular: 'file is no longer a regular file',
  file_became_link: 'file became a symbolic link',
  file_changed: 'file changed while albumd read it',
  file_changed_since: 'file changed or vanished before albumd sent it',
  file_shorter: 'file became shorter while albumd read it',
  file_cut_off: 'albumd ended before it had read the file',
  file_unreadable: "File can't be read ({code}). {code:remedy}",
  unread_image_stays: '{why:fact}, and its image on the host stays{why:remedy_of}',
  still_written: 'file is still being written',

  // What keeps folders from being watched, and what a person can do.
  events_lost: 'So much changed at once that all folders are looked at again. If often: {key:sysctl}',
  not_watched: "{path} can't be watched ({code}). {code:remedy}",
  watch_limit_reached:
    "The system's limit fs.inotify.{key} is reached, so some folders are not watched. Raise it: {key:sysctl}",

  // Why a request failed. `where`: host and port.
  no_connection: 'Cannot reach {where} ({code:connection})',
  bad_certificate: 'Certificate of {where} {code:certificate}',
  other_authority:
    "Certificate of {where} is not trusted, because host.ca_file holds another authority. Name the host's own there or in --ca-file of albumd init, or leave it out for a public one",
  no_secure_connection: 'No secure connection to {where} ({code}). Check that it speaks HTTPS',
  connection_failed: 'Connection to {where} failed ({code})',
  not_http: '{where} answered with something that is not HTTP. Check host.base_url',
  no_answer_in_time: '{where} did not answer in time',
  answer_too_slow: '{where} did not finish its answer in time',
  answer_too_long: '{where} answered with more than {most} bytes, and was cut off',
  answered_early: '{where} answered before the whole request had been sent',
  too_many_requests: '{where} answered {status} (too many requests)',
  not_of_interface:
    '{where} answered {status} with something that is not of the interface. Check host.base_url',
  answer_misfits: ({ where, status, field }: { where: string; status: number; field?: string }) =>
    `${where} answered ${status} with ${field ? `a field (${field}) that does not fit the interface` : 'something that is not of the interface'}`,
  answer_of_another: '{where} answered {status} with the answer to another request',
  redirects: '{where} redirects to another address. Set host.base_url to the final address',
  host_refused_with: 'the host answered {code}',
  refused_by_node: 'The upload node refused the picture ({why:inner}){why:remedy_of}',
  host_refuses: 'the host refuses one picture after another, the last with "{why:reason}"',
  format_refused:
    'The host refuses pictures of the type {mime}, with "{why:reason}". Convert such pictures, or add an ignore rule',
  asked_to_wait: '{why:reason}; the host asks to wait until {until:time}',
  request_cancelled: 'the request was cancelled',
  address_not_https: 'The host gave an address ({field}) that is not plain HTTPS, so albumd does not use it',
  address_with_key:
    'The host gave an address (cdn_url) that contains the API key, so albumd does not use it. Use a longer key',
  delivers_more: 'The host delivers more than {most} bytes',
  presign_without_album:
    'host.upload_form presign cannot put a picture into an album. Set it to credential, or mirror a flat folder to the album ""',
  picture_changed: 'the picture changed while it was being sent',
  line_too_slow:
    'Sending takes {ms:span} at {kilobytesPerSecond} KB/s, and {lifetimeMs:span} are allowed. Get a faster line, or raise uploads.bandwidth',
  gave_way: 'The line became too slow for all uploads at once',
  credential_expired: 'the credential expired before the picture could be sent',
  reserve_for_new:
    "The rest of today's uploads is kept for new pictures (quota.reserve); older ones go on tomorrow",
  limit_reached: "Today's {limit} uploads are used up, by albumd's own count",
  quota_refused: "The host says that today's uploads are used up",
  other_account: 'This key belongs to a different account. Restore the old key, or name a new state_dir',
  listing_changed: 'the listing kept changing while it was read',
  listed_not_known: 'the host lists the album, but answers that it does not exist',

  // Why a folder or a root is in doubt.
  folder_unreadable: "Folder can't be read ({code}). {code:remedy}",
  folder_not_listed: "Folder can't be read ({code}), so what lies in it is not listed. {code:remedy}",
  folder_unmounted: 'Folder{below:named} was a mount point and is none now. Mount it again{folder:trust}',
  folder_remounted: 'Another disk is mounted here than before. Bring the old one back{folder:trust}',
  folder_mounted_over:
    'A disk was mounted here, and not all of the pictures are on it. Unmount it{folder:trust}',
  folder_older: 'Another folder is here than before, without some pictures. Bring them back{folder:trust}',
  folder_emptied:
    'All {pictures} pictures in it are gone at once, and what is below it waits. Bring them back{folder:trust}',
  folder_restored:
    'A restore into it has not ended. Let it end, or run it again; only if on purpose, remove {own:shell}, which takes what is missing as deleted',
  ignore_file_unreliable: "Ignore file can't be read ({why:fault}). {code:remedy}",
  ignore_file_vanished: 'The ignore file has just vanished; albumd goes on without it after some seconds',
  folder_in_doubt: 'Deletions wait because of {path}{others:more} ({why:inner}){why:remedy_of}',
  root_not_a_folder:
    '{folder} is no folder. Correct the path, or mount its disk; after a move, see "albumd move-mirror"',
  root_moved: '{folder} was moved here; the next scan looks at all of it',
  root_not_moved:
    'Only {there} of {known} pictures are in {folder} with the size and time that albumd knows. Copy it with the times (cp -a), then try again',
  root_missing:
    '{folder} is not there. Correct the path, or mount its disk; after a move, see "albumd move-mirror"',
  root_unreadable: "{folder} can't be read ({code}). {code:remedy}",
  root_empty: '{folder} is empty and held pictures before. Mount its disk{folder:trust}',
  root_other: '{folder} is another folder than before. Bring the old one back{folder:trust}',
  root_older:
    '{folder} is another folder than before, without some pictures. Bring the old one back{folder:trust}',
  mirrored_by_another:
    'The albumd that runs{pid:process} mirrors {folder} with another state_dir than this config, or one that was removed. Stop it, or put state_dir back',
  state_in_use: 'Another albumd{pid:process} has the state in {folder}. Stop that one first',
  waits_for_albumd: 'Another albumd{pid:process} is at work here. Waiting for its end, at most {ms:span}',
  wait_too_long:
    'Another albumd{pid:process} has been at work here for more than {ms:span}. Try again once it ends',
  wait_ended:
    'Stopped while another albumd{pid:process} was at work here; nothing was done. Run the command again',
  folder_in_use:
    'Another albumd{pid:process} works in {folder}. Where it restores, wait for its end; where it mirrors the folder, name its config with -c',
  root_replaced: '{folder} was replaced',
  root_lost_in_scan: "{folder} can't be read ({words})",
  scan_ended: 'Deletions of {folder} wait for the next scan, because the last one was broken off',
  trusted: '{path} is trusted as it is; the next scan takes it as the truth',

  at_path: '{why:fact}, in {path}{why:remedy_of}',

  // Why an image stays.
  kept_for_good: 'kept for good',
  in_use: 'another file uses the same image',
  perhaps_anothers: 'perhaps the image of another machine, because machines share the album',
  claim_in_doubt: 'Deletions wait until the shared store confirms whose the albums are; uploads go on',
  moved_unsent: 'the same picture lies at {path}, and is not on the host from there yet',
  may_have_moved: 'perhaps the picture moved to {path}, which has the same size and no image yet',
  mount_gone: '{path} was a mount point and is none now',
  mount_new: '{path} is a mount point and was none at the last scan',
  mount_other: 'another disk is mounted at {path} than at the last scan',
  location_unseen: "{path} can't be looked at",
  other_mirror_unseen: "a picture of another mirror used the image, and that mirror can't be looked at",
  other_mirror_keeps: 'another mirror keeps it',
  file_there_again: '{path} is there again',
  not_in_its_album:
    "perhaps somebody else's image of equal bytes, because the recorded album does not list it",
  album_not_listed: "the album can't be looked at ({why:inner}){why:remedy_of}",
  bytes_differ: 'an image of this name stays on the host, because its bytes are those of another picture',
  bytes_not_compared: 'linked by name alone, and nobody can tell by the bytes ({why:inner}){why:remedy_of}',
  address_not_known: 'no upload has shown yet how delivery addresses look',
  address_answered: 'the delivery address answered {status}',
  delivery_alters: 'the host alters pictures',
  delivery_not_shown:
    'the delivered bytes differ, and no picture that albumd sent shows yet whether the host alters pictures',
  sample_not_read:
    'the delivered bytes differ, and it is not known whether the host alters pictures ({why:inner})',
  paused: 'albumd is paused',
  deletion_refused: 'the host refused the deletion ({why:inner}){why:remedy_of}',
  album_needed: 'something is in the album, or on its way there',

  // Why a picture waits or failed.
  folder_replaced: 'the folder was replaced since the scan',
  not_a_picture: 'File is no picture of a known format. Replace it, or exclude it in .albumdignore',
  foreign_picture:
    'The format of its bytes is {format}, which the host does not take. Convert it, or exclude it in .albumdignore',
  incomplete:
    'Part of the picture is missing or damaged ({why:reason}), so perhaps it is still being written',
  odd: 'The picture is not as its format says ({why:reason}), so perhaps it is still being written; it is sent once it stays as it is',
  empty_yet: 'File is empty, so perhaps it is still being written',
  stays_incomplete:
    'Part of the picture is missing or damaged ({why:reason}). Replace it, or exclude it in .albumdignore',
  flaw_cut: 'the picture ends at byte {at}, before the end of {part:part}',
  flaw_unwritten: 'zeros stand at byte {at} in place of {part:part}',
  flaw_checksum: 'the check sum of {part:part} at byte {at} is wrong',
  flaw_no_pixels: 'the header or the pixels are missing at byte {at}',
  flaw_rows: 'the pixels end at byte {at}, before the last row',
  flaw_broken: "what stands at byte {at} can't be read as {part:part}",
  flaw_no_end: 'the end mark is missing, and all pixels are there',
  flaw_length: 'the stated length of {part:part} at byte {at} is not true',
  flaw_stray: 'what stands at byte {at} is not as the format says, and the pixels do not need it',
  flaw_one_checksum:
    'the check sum of {part:part} at byte {at} is wrong, but the pixels are whole by another',
  flaw_announced: 'the picture announces {part:part}, which is not there',
  flaw_zeros: 'zeros stand at byte {at}, and nothing shows whether they belong there',
  metadata_stay:
    'The metadata can not be taken out for sure ({why:reason}), so the picture is not sent. Save it anew, or exclude it in .albumdignore',
  strip_not_whole: 'the picture ends at byte {at}, before {part:part} is whole',
  strip_not_understood: 'the pixels may need {part:part} at byte {at}',
  strip_too_many: 'the picture has too many parts',
  name_taken:
    'The picture {name} has its name on the host, so one of them has to be renamed before this one is sent',
  not_converted:
    'No JPEG of the HEIC would surely be right ({why:inner}), so none is sent. Save the picture as JPEG, or exclude it in .albumdignore',
  not_converted_now: 'No JPEG of the HEIC could be made ({why:inner})',
  heic_not_whole: 'the HEIC is not whole ({detail})',
  heic_not_understood: 'part of the HEIC is not understood ({detail})',
  heic_hdr: 'the picture is brighter than a JPEG can show ({detail})',
  heic_too_large: 'the HEIC is too large ({detail})',
  heic_no_library: 'what decodes HEIC is missing or too old ({detail})',
  heic_changed: 'the file has changed ({detail})',
  heic_no_room: 'the state folder takes no file ({detail})',
  heic_too_slow: 'the decoder took too long ({detail})',
  heic_ended: 'the decoder has ended ({detail})',
  had_metadata: 'the bytes were fetched and are the same, with the metadata that are taken out now',
  perhaps_sent_before_loss:
    'Perhaps on the host already, because the state was lost and the plan lists no albums. "albumd retry --resend" sends it anyway',
  album_not_permitted:
    'The host denies this key the album of the picture, or the root ({why:inner}). Check the rights of the key, and whose the album is',
  listing_refused:
    'The host does not list the album of the picture, or the root ({why:inner}). Ask the host why; pictures of other albums go on',
  perhaps_promised: 'The host lists an image of this name, whose bytes may still be on their way',
  version_open: 'albumd finds out first whether another version arrived',
  older_version_alike:
    'An image in its album is an earlier version, and nothing shows which one. "albumd retry --resend" sends the picture again',
  images_alike:
    'Several images of its album ({images}) may be this picture, and their bytes do not show which ({why:inner}). "albumd retry --resend" sends the picture again',
  linked_image_alike:
    'The image of the picture may be of this version or an earlier one, and nothing shows it ({why:inner}). "albumd retry --resend" sends the picture again',
  not_on_host: 'not on the host',
  host_not_asked: 'the host could not be asked ({why:inner}){why:remedy_of}',
  upload_failed: '{why:reason} ({code})',
  cut_off: 'no answer to its upload was recorded',
  uncertain: 'Not known whether it arrived ({why:inner}){why:remedy_of}',
  album_deletion_open: 'albumd finds out first whether the album was deleted',
  sent_before_loss: ({ until }: { until: number | null }) =>
    `The state was lost or put back while albumd worked, so the last uploads may still arrive. Pictures that are not on the host yet wait${until === null ? '' : ` until ${localTime(until)}`}`,
  records_gap: ({ from, to }: { from: string; to: string | null }) =>
    `Nothing was recorded from ${localTime(from)} ${to === null ? 'on' : `to ${localTime(to)}`}, because an older state was put back${to === null ? '. The next audit ends this gap' : ''}`,
  same_bytes_sent: 'the same bytes were sent before, and it is not known whether they arrived',
  id_of_another: 'the host answered with the id of another picture',
  answer_without_id: 'the host took the picture and did not say which image_id it has',
  album_asked_for: 'Album "{name}" was asked for and is not listed yet',
  album_of_doubtful_folder:
    'What the host lists for album "{name}" may belong to another folder, and {folder} is in doubt',
  album_of_several:
    'Album "{name}" is made once the shared store answers, because other machines may need it too',
  listing_changes: "An album's listing changed each time it was read",
  listing_endless: 'The host lists more than {most} images or albums, without end',

  // What became of a picture or an image.
  moved_from: 'moved from {path}',
  old_image_goes: 'the old image is to be deleted',
  old_image_stays: 'the old image stays',
  bytes_on_host: 'the bytes are on the host',
  image_used_again: 'the bytes are on the host, and their image is used again; {why:reason}',
  found_as_promised: 'the host has it under the address or the id that it had promised',
  found_by_bytes: 'the bytes were fetched and are the same',
  found_alike: 'an image of this name and these dimensions appeared; the bytes are not compared yet',
  image_kept: 'the image stays on the host for good',
  image_gone: 'the image is not on the host any more',
  image_not_found: 'the audit did not find the image on the host',
  image_refuted: "the linked image is somebody else's, because it has other bytes",
  picture_moved: 'the same picture lies at {path}',

  // What the audit found.
  not_listed: 'the host does not list it any more',
  listed_instead: 'the host does not list it any more, but {id} of the same name and size',
  twin_in_use: 'albumd uploaded it, and the file uses another image of the same bytes',
  deletion_undone: 'albumd deleted it, and the host still has it',
  looks_like:
    'albumd has no record of it; {id} of the same name is recorded, and may be another version of it',
  not_recorded: 'albumd has no record of it',
  album_not_recorded: 'albumd has no record of it, and no folder for its album',
  differs: '{differences:reasons}',
  name_differs: 'the name is "{listed}" there, not "{name}"',
  dimensions_differ: 'the dimensions are {listed} pixels there, not {recorded}',
  size_differs: 'the size is {listed} there, not {size} bytes',
  in_other_album: 'the image is in {album:folder}, not in {recorded:folder}',
} as const
