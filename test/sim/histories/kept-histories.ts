import type { History } from './history.ts'
import { at, atStep, FAULT, HOURLY, IN_A, THREE } from './parts.ts'
import { PLAIN_SETTING } from './setting.ts'
import { PLAIN } from './variations.ts'

/** Histories that chance seldom draws, each under a number that no seed has: `--seed` plays them too. */
// biome-ignore format: a history is a row.
const KEPT: readonly History[] = [
  // A picture changes in each pass.
  { ...THREE, seed: 1_000_000_032, files: [[0, 1]], graceMs: 600_000,
    pauses: [60_000, 60_000, 60_000, 60_000, 60_000],
    actions: [2, 3, 4, 5].map((b, pass) => at(pass + 1, 'change', 0, b)) },
  // The root is swapped for a backup that lacks the newest picture, and gets a new folder.
  { ...THREE, seed: 1_000_000_030, actions: [at(0, 'saveCopy'), at(1, 'add', 48, 5), at(2, 'olderCopy', 0, 2)] },
  // A folder is swapped for a backup that lacks the newest picture.
  { ...THREE, seed: 1_000_000_031, files: IN_A,
    actions: [at(0, 'saveCopy', 0, 1), at(1, 'add', 49, 5), at(2, 'olderCopy', 0, 1)] },
  // The same of a root and of a folder, and the upload of the newest picture is in doubt.
  { ...THREE, seed: 1_000_000_034, pauses: [60_000, 60_000, 3_700_000, 60_000, 60_000],
    actions: [at(0, 'saveCopy'), at(1, 'add', 48, 5), at(1, 'fault', FAULT.sendLate), at(2, 'olderCopy')] },
  { ...THREE, seed: 1_000_000_035, files: IN_A, pauses: [60_000, 60_000, 3_700_000, 60_000, 60_000],
    actions: [at(0, 'saveCopy', 0, 1), at(1, 'add', 49, 5), at(1, 'fault', FAULT.sendLate), at(2, 'olderCopy', 0, 1)] },
  // After days without a pass a picture is deleted, and albumd is killed in the pass that finds it gone and gives it a grace.
  { ...THREE, seed: 1_000_000_021, graceMs: 60_000, pauses: [5000, 3_700_000],
    actions: [...Array.from({ length: 4 }, () => at(1, 'wait', 99_999)), at(1, 'remove'), atStep(1, 16, 'kill')] },
  // Where nobody can list, the host knows no album that is too deep.
  { ...THREE, seed: 1_000_000_023,
    variations: { ...PLAIN, without: ['list'], depthMax: 1, readings: { tooDeep: 'NOT_FOUND' } },
    files: [[0, 1], [1, 2]], pauses: [3_700_000, 3_700_000, 3_700_000],
    actions: [at(1, 'add', 17, 3), at(2, 'add', 33, 5)] },
  // A deletion is served and its answer lost; then the file comes back with the same bytes.
  { ...THREE, seed: 1_000_000_001, actions: [at(1, 'remove'), at(1, 'fault', 1, 2), at(2, 'undelete')] },
  // A picture is served and albumd killed; delivery gives nothing, and every other walk misses the newest image.
  { ...THREE, seed: 1_000_000_002, variations: { ...PLAIN, delivery: 'nothing', blinks: 'even' }, files: [[0, 1]],
    pauses: [3_700_000, 3_700_000], actions: [atStep(0, 44, 'kill')] },
  // A deletion is served and its answer lost; it is asked again and refused, and then the file comes back.
  { ...THREE, seed: 1_000_000_003,
    actions: [at(1, 'remove'), at(1, 'fault', 1), at(1, 'fault', 771), at(2, 'undelete')] },
  // Five pictures are found in the afternoon, and may go after midnight: then two are old, and the rest is kept.
  { ...THREE, seed: 1_000_000_004, files: [0, 16, 32, 1, 17].map((place, at) => [place, at]), order: 'newest',
    setting: { ...PLAIN_SETTING, hours: { from: 22 * 60, to: 7 * 60 }, limit: 4, reserve: 0.5 },
    actions: [at(1, 'wait', 41_000)] },
  // A person pauses albumd for ten seconds, and then until further notice.
  { ...THREE, seed: 1_000_000_005, actions: [at(0, 'pause', 1, 9), at(0, 'pause')] },
  // A person pauses albumd while it gives up pictures.
  { ...THREE, seed: 1_000_000_006, actions: [at(1, 'remove'), at(1, 'remove'), atStep(1, 28, 'pause')] },
  // Each picture becomes a folder: nothing is left in the mirror's album.
  { ...THREE, seed: 1_000_000_008, pauses: [60_000, 3_700_000, 3_700_000, 3_700_000],
    actions: Array.from({ length: 3 }, () => at(1, 'folderForFile')) },
  // A person keeps the images of two pictures, and one of the pictures comes back.
  { ...THREE, seed: 1_000_000_007, hold: { hold_above: 0, hold_min: 1 },
    actions: [at(1, 'remove'), at(1, 'remove'), at(2, 'discard'), at(2, 'undelete')] },
  // A folder loses all its many pictures while albumd looks at it: some were met, the others are not there.
  { ...THREE, seed: 1_000_000_009, files: [[1, 1]], pauses: [60_000, 60_000, 60_000],
    actions: [at(0, 'fillFolder', 0, 2), atStep(1, 11, 'emptyFolder', 0, 1)] },
  // An ignore file is deleted, and a picture is to go: each pass looks at everything twice.
  { ...THREE, seed: 1_000_000_010, graceMs: 60_000, pauses: [60_000, 61_000, 60_000],
    actions: [at(0, 'ignore', 0, 1), at(1, 'remove'), at(2, 'unignore')] },
  // The same, its folder goes too, and is there again between the two looks.
  { ...THREE, seed: 1_000_000_019, graceMs: 60_000, pauses: [60_000, 61_000, 60_000],
    actions: [at(0, 'ignore', 1, 2), at(1, 'remove'), at(2, 'unignore'), at(2, 'removeFolder', 2),
      atStep(2, 8, 'add', 13, 1)] },
  // The quota is used up when the clock is days ahead; it is asked about again once the clock was set back.
  { ...THREE, seed: 1_000_000_011, setting: { ...PLAIN_SETTING, limit: 3 },
    actions: [at(0, 'quota', 1), at(2, 'clockJump', 3), at(2, 'clockJump', 3)] },
  // A folder loses all its many pictures between two passes.
  { ...THREE, seed: 1_000_000_012, actions: [at(0, 'fillFolder', 1, 2), at(1, 'emptyFolder', 0, 1)] },
  // A rule hides a picture that is on the host, and nobody asks for more.
  { ...THREE, seed: 1_000_000_013, actions: [at(1, 'ignore')] },
  // A rule hides a picture, a person gives it up, and takes the rule back in the very last moment.
  { ...THREE, seed: 1_000_000_014, actions: [at(1, 'ignore'), at(1, 'prune'), atStep(1, 40, 'unignore')] },
  // A rule hides a folder, and a person gives up what it holds a pass later.
  { ...THREE, seed: 1_000_000_015, files: [[0, 1], [3, 2]], graceMs: 600_000,
    actions: [at(1, 'ignore', 0, 2), at(2, 'prune')] },
  // What albumd has found while it was paused lies under an ignore file that can't be read when it goes on.
  { ...THREE, seed: 1_000_000_016,
    actions: [at(0, 'ignore'), at(0, 'pause'), at(1, 'ignoreFileUnreadable'), at(1, 'resume')] },
  // A picture is served and the answer garbled; a rule hides it, a person gives up what is hidden, and then it is found.
  { ...THREE, seed: 1_000_000_018, variations: { ...PLAIN, delivery: 'other' }, files: [[32, 3]],
    actions: [at(0, 'fault', 25, 2), at(1, 'ignore', 0, 3), at(1, 'prune')] },
  // The quota is used up, and albumd killed while another picture is still under way.
  { ...THREE, seed: 1_000_000_022, concurrency: 4, actions: [at(0, 'quota', 1), atStep(0, 61, 'kill', 0, 2)] },
  // An ignore file is deleted.
  { ...THREE, seed: 1_000_000_017, actions: [at(0, 'ignore'), at(1, 'unignore')] },
]

const SIX: History['files'] = [
  [820549910, 3404832231],
  [439018475, 3600488834],
  [3694184830, 653905941],
  [310797897, 3254723853],
  [2316811202, 2822864516],
  [3566439405, 3139740698],
]

/** Six pictures in the root of a host whose every other walk lacks the newest, and a repair after a reboot. */
const LACKING: Omit<History, 'seed'> = {
  ...HOURLY,
  variations: { ...PLAIN, order: 'shuffled', perPage: 3, without: ['create_album'], blinks: 'even' },
  files: SIX,
  hold: { hold_above: 0.25, hold_min: 2 },
  graceMs: 60_000,
  pauses: [60_000, 1000, 60_000, 1000],
  actions: [at(2, 'reboot'), at(3, 'rename', 2452505682, 1269735668), at(4, 'auditRepair')],
}

/** Histories of audits, and of what people send again; see `kept-histories.ts`. */
// biome-ignore format: a history is a row.
const KEPT_CHECKING: readonly History[] = [
  // Another person deletes an image, and an audit mends it.
  { ...HOURLY, seed: 1_000_000_101, actions: [at(1, 'otherDeletes'), at(1, 'auditRepair')] },
  // Another person uploads an image that looks like one of ours.
  { ...HOURLY, seed: 1_000_000_102, actions: [at(1, 'otherLookAlike', 0, 1), at(1, 'auditRepair')] },
  // The host keeps an image that albumd deletes.
  { ...HOURLY, seed: 1_000_000_103, actions: [at(1, 'keepDeleted'), at(1, 'remove'), at(2, 'auditRepair')] },
  // The same, and the root is away when that is to be mended.
  { ...HOURLY, seed: 1_000_000_104,
    actions: [at(1, 'keepDeleted'), at(1, 'remove'), at(2, 'rootOff'), at(2, 'auditRepair')] },
  // It keeps two: more than the hold lets go unasked.
  { ...HOURLY, seed: 1_000_000_105,
    actions: [at(1, 'keepDeleted', 1), at(1, 'remove'), at(1, 'remove'), at(2, 'auditRepair')] },
  // A person pauses albumd while an audit walks, and what it finds is not mended away.
  { ...HOURLY, seed: 1_000_000_106,
    actions: [at(1, 'keepDeleted'), at(1, 'remove'), at(2, 'auditRepair'), atStep(2, 22, 'pause')] },
  // What every other walk lacks an audit, and the repair after it, both miss.
  { ...LACKING, seed: 1_000_000_603 },
  // The same: a walk that was not whole at once comes between.
  { ...LACKING, seed: 1_000_000_371 },
  // A picture is served and albumd killed; delivery gives nothing, every other walk lacks the newest, and few are whole at once.
  { ...HOURLY, seed: 1_000_000_161,
    variations: { ...PLAIN, order: 'shuffled', delivery: 'nothing', perPage: 2, blinks: 'even' },
    files: SIX.slice(0, 5), hold: THREE.hold, actions: [atStep(0, 152, 'kill')] },
  // The first picture lands in the default album and is listed late: nobody learns where it is.
  { ...HOURLY, seed: 1_000_000_108, variations: { ...PLAIN, defaultAlbum: 'Inbox', listLagMs: 300_000 },
    mirrors: [{ ...HOURLY.mirrors[0]!, album: '' }], files: [[0, 1]], actions: [at(1, 'auditRepair')] },
  // A listing whose order changes from page to page.
  { ...HOURLY, seed: 1_000_000_109, variations: { ...PLAIN, order: 'shuffled', perPage: 2 },
    files: [0, 16, 32, 48].map((place, version) => [place, version]),
    pauses: Array.from({ length: 40 }, () => 60_000),
    actions: Array.from({ length: 39 }, (_, pass) => at(pass + 1, 'audit')) },
  // Where nobody can list, an upload that never arrives stays in doubt until a person has it sent again.
  { ...HOURLY, seed: 1_000_000_110, variations: { ...PLAIN, without: ['list'], delivery: 'nothing' },
    actions: [at(0, 'fault', 20), at(2, 'resend', 1)] },
  // After a loss of the state a person wants everything sent again, before it is known what the host has.
  { ...HOURLY, seed: 1_000_000_111, actions: [at(1, 'loseState'), at(1, 'resend'), atStep(1, 1, 'pauseUploads')] },
  // After a loss of the state two images can be a picture, and nothing tells which.
  { ...HOURLY, seed: 1_000_000_112, variations: { ...PLAIN, delivery: 'nothing' },
    actions: [at(1, 'loseState', 0, 2), at(1, 'otherLookAlike', 0, 1), at(2, 'resend', 1)] },
  // An answer is lost; a person has the picture sent again, though it is there.
  { ...HOURLY, seed: 1_000_000_113, variations: { ...PLAIN, delivery: 'nothing' },
    actions: [atStep(0, 1, 'fault'), atStep(0, 1, 'resend', 1), at(2, 'audit')] },
]

export const ALL_KEPT = [...KEPT, ...KEPT_CHECKING]
