import { HOUR_MS } from '../../../src/protocol/clock.ts'
import { TWICE } from '../host/faults.ts'
import type { History } from './history.ts'
import { at, atStep, FAULT, HOURLY, IN_A, IN_BOTH, SILENT, THREE, TWO_IN_A, TWO_MIRRORS } from './parts.ts'
import { PLAIN_SETTING } from './setting.ts'
import { GONE, PLAIN } from './variations.ts'

const WHOLE_SECONDS: History['setting'] = { ...PLAIN_SETTING, tickMs: 1000 }

const MANY: History['files'] = Array.from({ length: 16 }, (_, n) => [(n % 4) + 16 * (n >> 2), 1 + n])

/** Kept later: no broad history begins as these, because a longer list of beginnings would change what each seed draws. */
// biome-ignore format: a history is a row.
export const KEPT_LATER: readonly History[] = [
  // The quota of the last 24 hours is used up, and seven hours lie between the passes: it comes free for one, and then for two, of
  // which the second is new a minute later.
  { ...THREE, seed: 1_000_000_450, variations: { ...PLAIN, rollingQuota: true }, files: [[0, 1]],
    pauses: [...Array.from({ length: 5 }, () => 7 * HOUR_MS), 60_000, 60_000],
    actions: [
      at(1, 'add', 16, 2), at(1, 'add', 32, 3), at(1, 'quota', 2), at(2, 'add', 48, 4), at(2, 'add', 65, 5),
      at(6, 'add', 81, 6),
    ] },
  // When the image of a picture's older version is due, two folders change names for some looks, and these bytes lie in the other.
  ...[[0, 45], [1, 21]].map(([there, back], number) => ({
    ...THREE,
    seed: 1_000_000_480 + number,
    hold: { hold_above: 1, hold_min: 1 },
    graceMs: 600_000,
    files: [[1, 1], [2, 1], [0, 3]] as History['files'],
    pauses: [60_000, 60_000, 700_000, 60_000],
    actions: [at(1, 'change', 0, 5), atStep(3, there!, 'swapFolders'), atStep(3, back!, 'swapFolders')],
  })),
  // The host refuses a format, in the words of HTTP or in its own, and takes a picture of another one.
  ...(['UNSUPPORTED_MEDIA_TYPE', 'FORMAT_NOT_SUPPORTED'] as const).map((code, number) => ({
    ...THREE,
    seed: 1_000_000_470 + number,
    variations: { ...PLAIN, refuses: { mime: 'image/gif', at: 'send' as const, code, status: [415, 400][number]! } },
    files: [[32, 1], [48, 4], [16, 2], [0, 3]] as History['files'],
    actions: [at(1, 'add', 1, 6)],
  })),
  // The state is lost, and the host lists the albums of two folders under one name, one of which has none yet.
  { ...THREE, seed: 1_000_000_472, variations: { ...PLAIN, renames: 'masked' }, files: [[2, 1]], order: 'newest',
    pauses: [60_000, 900_000, 60_000], actions: [at(1, 'loseState', 0, 2), at(1, 'add', 1, 2)] },
  // After a lost state an edited picture is linked to its image, and then it is as it was.
  { ...THREE, seed: 1_000_000_473, variations: { ...PLAIN, alters: 'strip', namesBase: true }, files: [[0, 1]],
    pauses: [60_000, 900_000, 60_000, 60_000],
    actions: [at(1, 'loseState', 0, 2), at(1, 'changeUnseen'), at(3, 'restoreOld', 0, 1)] },
  // The host answers an upload with nothing but that it has succeeded.
  { ...THREE, seed: 1_000_000_475, variations: { ...PLAIN, tellsImage: false }, actions: [at(1, 'change', 0, 7)] },
  // It also keeps ids and encodes anew, and a picture changes while nobody knows yet which image it has.
  { ...THREE, seed: 1_000_000_476,
    variations: { ...PLAIN, tellsImage: false, keepsIds: true, alters: 'encode' }, files: [[16, 2], [32, 3]],
    actions: [at(1, 'change', 0, 7)] },
  // A picture is deleted, and a restore brings back what the host delivers in its place: without metadata, or encoded anew.
  ...(['strip', 'encode'] as const).map((alters, number) => ({
    ...THREE,
    seed: 1_000_000_460 + number,
    variations: { ...PLAIN, alters },
    graceMs: 600_000,
    actions: [at(1, 'remove'), at(2, 'restoreDelivered')],
  })),
  // A picture changes, and its image keeps its id: the host says so, the answer is lost, or addresses tell no id.
  ...([['id'], ['id', FAULT.sendLost], ['other', FAULT.sendLost]] as const).map(([delivery, fault], number) => ({
    ...HOURLY,
    seed: 1_000_000_442 + number,
    variations: { ...PLAIN, keepsIds: true, delivery },
    actions: [at(1, 'change', 0, 7), ...(fault === undefined ? [] : [at(1, 'fault', fault)])],
  })),
  // The same, the answer is lost, and the picture is as it was before while albumd is off: the host delivers nothing, or what it
  // has encoded anew.
  ...([{ delivery: 'nothing' }, { alters: 'encode' }] as const).map((variations, number) => ({
    ...HOURLY,
    seed: 1_000_000_490 + number,
    variations: { ...PLAIN, keepsIds: true, ...variations },
    actions: [at(1, 'change', 0, 7), at(1, 'fault', FAULT.sendLost), at(2, 'restoreOld', 0, 1)],
  })),
  // Another person deletes the album, which is the root from then on, and a picture is new; or an audit mends it.
  ...[at(1, 'add', 48, 6), at(1, 'auditRepair')].map((then, number) => ({
    ...HOURLY,
    seed: 1_000_000_440 + number,
    variations: { ...PLAIN, strays: true },
    actions: [at(1, 'otherDeletesAlbum'), then],
  })),
  // The answer to a deletion is lost, and when it is sent again, the host answers in its own way that nothing is there.
  ...GONE.map((goneAs, number) => ({
    ...HOURLY,
    seed: 1_000_000_430 + number,
    variations: { ...PLAIN, goneAs },
    actions: [at(1, 'remove'), at(1, 'fault', FAULT.deleteLost, 1)],
  })),
  // The new version of a picture never arrives at a host that lists it from step 1 on.
  ...(['declared', 'kept'] as const).map((promises, number) => ({
    ...THREE,
    seed: 1_000_000_420 + number,
    variations: { ...PLAIN, promises },
    actions: [at(1, 'change', 0, 7), at(1, 'fault', FAULT.sendNever)],
  })),
  // The root is swapped for a backup that holds an older version of a picture.
  { ...THREE, seed: 1_000_000_059, files: IN_A,
    actions: [at(0, 'saveCopy', 0, 0), at(1, 'change', 0, 7), at(2, 'olderCopy', 0, 0)] },
  // A folder is swapped for a backup that lacks the newest picture, and gets another one.
  { ...THREE, seed: 1_000_000_060, pauses: [60_000, 60_000, 60_000, 60_000, 60_000], files: TWO_IN_A,
    actions: [at(0, 'saveCopy', 0, 1), at(1, 'add', 49, 5), at(2, 'olderCopy', 0, 1), at(3, 'add', 33, 4)] },
  // A folder is taken away, and a scan later a backup comes in its place that lacks the newest picture, a folder in it, or the
  // newest version. Or all that it holds lies in a folder in it.
  ...([at(1, 'add', 49, 5), at(1, 'add', 3, 5), at(1, 'change', 1, 7), at(1, 'add', 33, 5)] as const).map(
    (newer, number) => ({
      ...THREE,
      seed: 1_000_000_064 + number,
      files: [[0, 3], ...(number === 3 ? ([[3, 1]] as typeof TWO_IN_A) : TWO_IN_A)] as History['files'],
      graceMs: 600_000,
      pauses: [60_000, 60_000, 60_000, 700_000, 700_000],
      actions: [at(0, 'saveCopy', 0, 1), newer, at(2, 'takeAside', 0, 1), at(3, 'olderCopy', 0, 1)],
    }),
  ),
  // The root is swapped for a backup that lacks what is to be sent again on a person's word, and a file that is no picture.
  { ...THREE, seed: 1_000_000_057,
    actions: [at(0, 'saveCopy'), at(0, 'nameOddly', 1, 1), at(1, 'add', 48, 5), at(1, 'fault', FAULT.sendLate),
      at(1, 'resend', 1), at(2, 'olderCopy')] },
  // A picture is gone, and another of its size can't be read: the picture may have moved there.
  ...(['remove', 'removeFolder'] as const).map((kind, number) => ({
    ...THREE,
    seed: 1_000_000_405 + number,
    files: [
      [1, 1],
      [16, 2],
      [32, 3],
    ] as History['files'],
    actions: [at(1, kind), at(1, 'add', 16, 5), at(1, 'fileUnreadable'), at(2, 'readable')],
  })),
  // Three pictures are on their way when the process is killed, and at least one has arrived.
  { ...HOURLY, seed: 1_000_000_407, concurrency: 4, actions: [atStep(0, 75, 'kill')] },
  // A picture is sent again on a person's word, and then the state from before that is put back.
  { ...HOURLY, seed: 1_000_000_037, variations: SILENT, files: [[32, 3]],
    actions: [at(0, 'fault', FAULT.sendGarbled), at(0, 'resend', 1), at(1, 'saveState'), at(2, 'restoreState')] },
  // A picture of before is written over while albumd looks, and its end marker is of the older picture.
  { ...THREE, seed: 1_000_000_042, variations: { ...PLAIN, cachesAbsence: true },
    mirrors: [{ ...THREE.mirrors[0]!, mounted: true }], files: [[1318721712, 1865915743]],
    setting: { ...PLAIN_SETTING, endings: true }, actions: [at(0, 'writeOver', 267299191, 1508917962)] },
  // Room is reserved for a picture, and the clock leaps while albumd waits for its bytes.
  { ...THREE, seed: 1_000_000_040,
    mirrors: [{ ...THREE.mirrors[0]!, mounted: true }, { ...THREE.mirrors[0]!, album: 'Scans/Old', mounted: true }],
    files: [], graceMs: 600_000, concurrency: 2, setting: { ...PLAIN_SETTING, endings: true, tickMs: 1000 },
    pauses: [5000],
    actions: [at(0, 'reserveRoom', 3640061616, 501991161), atStep(0, 27, 'clockJump', 571351237, 1435697605)] },
  // A picture is gone from a folder that then can't be read.
  { ...THREE, seed: 1_000_000_047, variations: { ...PLAIN, listLagMs: 272_000, without: ['delete'] },
    mirrors: [{ ...THREE.mirrors[0]!, bind: true }, { ...THREE.mirrors[0]!, album: 'Scans/Old' }],
    files: [[2170303802, 2240514555], [253640603, 1600269780], [1082727964, 1207236934], [1245109283, 1769731724],
      [2879358964, 3332991960], [2687752199, 3470706154], [2765367014, 3576636029]],
    hold: { hold_above: 0.5, hold_min: 20 }, graceMs: 600_000, concurrency: 2, order: 'newest',
    setting: { ...PLAIN_SETTING, mountsListed: true, tickMs: 1000 }, pauses: [60_000, 1000, 60_000, 1000, 5000],
    actions: [at(0, 'removeFolder', 3905588720, 999708903), atStep(1, 12, 'rename', 1927304730, 1606479407),
      at(3, 'wait', 39922096, 1714180856), atStep(3, 54, 'folderUnreadable', 469473495, 2396122119)] },
  // A proxy sends a picture twice: the node stores it, and refuses the second copy, because its credential was used.
  { ...HOURLY, seed: 1_000_000_048, actions: [at(0, 'turnAway', 0, TWICE)] },
  // Without albums, a picture moves to another mirror, then gets other bytes, and the answer to these is lost for good.
  { ...THREE, seed: 1_000_000_049,
    variations: { ...PLAIN, without: ['create_album'], delivery: 'other', readings: { cdnUrl: 'second' } },
    mirrors: TWO_MIRRORS, files: [[2, 1], [33, 2]],
    actions: [at(1, 'renameFolder', 0, 1), at(2, 'change', 1, 7), at(2, 'fault', FAULT.sendGarbled)] },
  // Names of albums are unique, and another person's album that can't be listed has the mirror's.
  { ...HOURLY, seed: 1_000_000_050,
    variations: { ...PLAIN, without: ['list'], readings: { albumNames: 'unique', albumNameTaken: 'NOT_FOUND' } },
    actions: [at(0, 'otherAlbum')] },
  // The same, and the refusal may as well mean that the key lacks a right: a person is told.
  { ...HOURLY, seed: 1_000_000_051,
    variations: { ...PLAIN, without: ['list'], readings: { albumNames: 'unique', albumNameTaken: 'FORBIDDEN' } },
    actions: [at(0, 'otherAlbum')] },
  // The same, and pictures of another mirror, whose album the host does not refuse, are pending too.
  { ...HOURLY, seed: 1_000_000_053,
    variations: { ...PLAIN, without: ['list'], readings: { albumNames: 'unique', albumNameTaken: 'FORBIDDEN' } },
    mirrors: TWO_MIRRORS, files: IN_BOTH, actions: [at(0, 'otherAlbum')] },
  // A picture is sent again on a person's word, the first one is taken for the second, and then the picture changes.
  { ...HOURLY, seed: 1_000_000_052, variations: { ...PLAIN, listLagMs: 216_000, readings: { cdnUrl: 'second' } },
    pauses: [...HOURLY.pauses, 3_700_000],
    actions: [at(1, 'change', 0, 7), at(1, 'fault', FAULT.sendLost), at(1, 'resend', 1), at(2, 'fault', FAULT.sendLost),
      at(3, 'change', 0, 9)] },
  // All pictures of a root or folder are deleted, a restore is killed, and then it ends, or a person wants none of it. Or it
  // begins when their deletions are about to leave.
  ...[
    [at(1, 'removeMany'), at(1, 'beginRestore'), at(3, 'endRestore')],
    [at(1, 'removeMany', 0, 1), at(1, 'beginRestore', 0, 1), at(3, 'endRestore', 0, 1)],
    [at(1, 'removeMany'), at(1, 'beginRestore'), at(3, 'endRestore', 0, 2)],
    [at(1, 'removeMany'), atStep(1, 52, 'beginRestore'), at(3, 'endRestore')],
  ].map((actions, number) => ({
    ...THREE,
    seed: 1_000_000_411 + number,
    hold: { hold_above: 1, hold_min: 20 },
    pauses: [...THREE.pauses, 60_000],
    // The last ones are few: more than half of them, and they would be held.
    files: Array.from({ length: number === 3 ? 3 : 4 }, (_, n): [number, number] => [(number % 2) + 16 * n, 1 + n]),
    actions,
  })),
  // Pictures are on their way, and people change, delete or move them, or add another.
  ...(['change', 'remove', 'renameFolder', 'add'] as const).map((kind, number) => ({
    ...THREE,
    seed: 1_000_000_401 + number,
    files: Array.from({ length: 3 }, (_, n): [number, number] => [1 + 16 * n, 1 + n]),
    news: true,
    concurrency: 4,
    actions: (kind === 'renameFolder' ? [0, 1] : [0, 1, 2]).map(more =>
      atStep(0, 66 + 2 * more, kind, more, 16 * (1 + more)),
    ),
  })),
  // The host tells no addresses. The machine starts anew; later another person deletes an image, and an audit mends it.
  { ...HOURLY, seed: 1_000_000_415, variations: { ...PLAIN, readings: { cdnUrl: 'neither' } },
    actions: [at(1, 'reboot'), at(2, 'otherDeletes'), at(3, 'auditRepair')] },
  // Of four uploads under way one meets a full storage, and another a quota that is used up.
  { ...THREE, seed: 1_000_000_740, concurrency: 4,
    files: Array.from({ length: 6 }, (_, n): [number, number] => [16 * n, 1 + n]),
    actions: [at(0, 'quota', 1), at(0, 'fault', FAULT.storageFull, 4)] },
  // On a disk that stamps in whole seconds, a picture is written anew with its own bytes, and once more after it was read.
  { ...THREE, seed: 1_000_000_741, setting: WHOLE_SECONDS,
    actions: [at(1, 'changeInPlace', 0, 1), atStep(1, 26, 'changeUnseen', 0, 3)] },
  // On such a disk, somebody pauses at half a picture.
  { ...THREE, seed: 1_000_000_742, setting: WHOLE_SECONDS, pauses: [60_100, 60_000, 60_000],
    actions: [at(1, 'writeSlowly', 48, 798)] },
  // Two folders change names. Each shows a picture that the other had too, and lacks one that the other has now.
  { ...THREE, seed: 1_000_000_033, files: TWO_IN_A,
    actions: [at(0, 'add', 34, 6), at(0, 'copyTo', 0, 2), at(1, 'swapFolders')] },
  // A host makes large pictures smaller, lists the new size and tells no address. The answer to a large one is garbled.
  { ...THREE, seed: 1_000_000_743,
    variations: { ...PLAIN, alters: 'shrink', listsAltered: true, readings: { cdnUrl: 'neither' } },
    files: [[32, 3]], actions: [at(1, 'fault', FAULT.sendGarbled), at(1, 'add', 0, 6)] },
  // A host keeps ids and takes metadata away. The first version of a picture arrives after the second one, and in its place.
  { ...THREE, seed: 1_000_000_744, variations: { ...PLAIN, alters: 'strip', keepsIds: true }, files: [[0, 1]],
    actions: [at(0, 'fault', FAULT.sendLate), at(1, 'change', 0, 2)] },
  // Another such host encodes anew. A person keeps the image of a picture that is gone, and another picture gets its name.
  { ...THREE, seed: 1_000_000_745, variations: { ...PLAIN, alters: 'encode', keepsIds: true },
    hold: { hold_above: 0, hold_min: 0 },
    actions: [at(1, 'remove', 0), at(2, 'discard'), at(2, 'add', 0, 4)] },
  // The state is lost. A host that takes metadata out, but turns pictures as before, has one that is turned no more. Another one
  // encodes anew and lists what it makes, of three. A third has one of which it takes nothing out before one of which it does.
  { ...THREE, seed: 1_000_000_747, variations: { ...PLAIN, alters: 'trim', namesBase: true }, files: [[0, 4], [16, 13]],
    actions: [at(1, 'loseState', 0, 2), at(1, 'editFact', 0, 2)] },
  { ...THREE, seed: 1_000_000_748, variations: { ...PLAIN, alters: 'encode', listsAltered: true, namesBase: true },
    files: [[0, 4], [16, 13], [32, 22]], pauses: [60_000, 900_000, 60_000], actions: [at(1, 'loseState', 0, 2)] },
  { ...THREE, seed: 2_999_999_001, order: 'newest', variations: { ...PLAIN, alters: 'strip', listsAltered: true, namesBase: true },
    files: [[0, 24], [16, 15]], pauses: [60_000, 900_000, 60_000], actions: [at(1, 'loseState', 0, 2)] },
  // The same of a host that keeps all, and one picture is turned.
  { ...THREE, seed: 2_999_999_002, variations: { ...PLAIN, namesBase: true }, files: [[0, 1], [16, 2]],
    actions: [at(1, 'loseState', 0, 2), at(1, 'editFact', 0, 2)] },
  // A host lists an image from step 1 on, with its declared size. The process is killed before it has recorded the credential.
  { ...THREE, seed: 1_000_000_746, variations: { ...PLAIN, promises: 'declared' }, files: [[0, 1]],
    actions: [atStep(0, 37, 'kill')] },
  // A host keeps credentials for less time than it promises: now and then a picture comes too late.
  { ...HOURLY, seed: 1_000_000_760, variations: { ...PLAIN, keeps: 0.9 }, files: MANY, concurrency: 4,
    actions: [] },
  // A host refuses all at an endpoint for an hour, in each of the ways in which it may.
  ...Array.from({ length: 9 }, (_, number) => ({
    ...HOURLY,
    seed: 1_000_000_761 + number,
    files: MANY,
    pauses: [60_000, 60_000, 900_000, 3_700_000],
    actions: [at(0, 'hostCloses', number), at(3, 'hostOpens')],
  })),
  // The same, and pictures come one by one.
  { ...HOURLY, seed: 1_000_000_770, files: [[0, 1]],
    actions: [at(0, 'hostCloses'), at(1, 'add', 16, 2), at(2, 'add', 32, 3)] },
  // A picture is sent with its metadata, then edited while they are taken out, and the edit is undone while its first image waits.
  { ...THREE, seed: 1_000_000_771, graceMs: 600_000, files: [[0, 1]],
    setting: { ...PLAIN_SETTING, strips: { from: 1, to: Number.MAX_SAFE_INTEGER } },
    actions: [at(0, 'editNote'), at(1, 'change', 0, 5), at(2, 'change', 0, 1), at(2, 'editNote')] },
  // The state is lost, and the host lists the albums of two folders under one name. Their pictures are listed alike too, but lie in
  // an album of the one and in the other itself.
  { ...THREE, seed: 1_000_000_780, variations: { ...PLAIN, renames: 'masked' }, files: [[35, 2], [2, 3], [18, 3]],
    pauses: [3_700_000, 25_200_000], actions: [at(0, 'quota', 2), at(1, 'loseState', 0, 2)] },
  // The same, and the album of the folder that asks first shows more of the other one, which has an older album.
  { ...THREE, seed: 1_000_000_781, variations: { ...PLAIN, renames: 'masked' }, files: [[0, 3], [3, 1]],
    pauses: [60_000, 60_000, 60_000, 700_000],
    actions: [
      at(0, 'saveCopy', 0, 1), at(0, 'add', 34, 1), at(0, 'remove'), at(1, 'add', 33, 5), at(3, 'olderCopy', 0, 1),
      at(3, 'loseState', 0, 2),
    ] },
  // The same, and only what is delivered tells the pictures apart.
  { ...THREE, seed: 1_000_000_782, variations: { ...PLAIN, renames: 'masked', namesBase: true }, files: [[2, 2]],
    order: 'newest', pauses: [60_000, 60_000, 900_000, 60_000],
    actions: [at(1, 'add', 1, 3), at(2, 'loseState', 0, 2)] },
]
