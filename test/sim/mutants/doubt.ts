import type { ImageHost } from '../../../src/remote/host.ts'
import type { Synced } from '../../../src/synced/synced.ts'
import { always, but, given, idle, never, nothing, resolving, returning } from './by.ts'
import type { Row } from './mutant.ts'

/** Whether the account's plan has just shown no listing. */
let isBlind = false

/** What keeps a picture from being sent twice. */
// biome-ignore format: a mutant is a row.
export const DOUBT: readonly Row[] = [
  [300_000_054, 'NOT_FOUND alone tells that an album is lost',
    'pictures of an album that somebody deleted fail for ever where the host says FORBIDDEN',
    { 'sync/listing/walk.ts': { mayMeanLost: never } }],
  [300_000_053, 'FORBIDDEN ends uploads where an album is too deep', 'no other picture is sent either',
    { 'sync/albums/album-tree.ts': {
      cannotBeMade: returning((is, failure, parent) => is && !(parent && failure.remedy === 'not_permitted')),
    } }],
  [1_000_000_050, 'NOT_FOUND in the root is asked about a parent',
    'the pictures wait for ever where a name is taken and nobody can look',
    { 'sync/albums/album-tree.ts': {
      cannotBeMade: returning((is, failure, parent) => is && (parent || failure.remedy !== 'gone')),
    } }],
  [300_000_058, 'NOT_FOUND ends uploads where an album is too deep', 'no other picture is sent either',
    { 'sync/albums/album-doubts.ts': {
      'AlbumDoubts.isClosed': never,
      'AlbumDoubts.isGone': resolving((gone, _, failure) => (gone.ok && !gone.value ? { ok: false, failure } : gone)),
    } }],
  [1_000_000_023, 'NOT_FOUND proves that an album is gone where nobody can look',
    'an album that is too deep for others gets a twin in each pass',
    { 'sync/albums/album-doubts.ts': {
      unlistedIn: resolving(found => {
        isBlind = !found.ok && found.failure.remedy === 'plan'
        return found
      }),
      'AlbumDoubts.#lookFor': (original, self) => async (...args) => {
        const failure = await original(...args)
        if (isBlind) await self.doubt(args[0])
        return failure
      },
    }, 'sync/albums/album-tree.ts': {
      'AlbumTree.#findOrMake': original => (place, signal) => original({ ...place, recorded: undefined }, signal),
    } }],
  [69, 'no journal', 'an upload that was cut off is sent again, blindly',
    { 'sync/uploads/recovery.ts': {
      settleJournal: original => (context, ...rest) => {
        const { journal, commitNow } = context.synced
        for (const { id } of journal.openUploads()) commitNow((tx: typeof context.synced) => tx.journal.close(id))
        return original(context, ...rest)
      },
    } }],
  [44, 'blind resend', 'an upload whose answer was lost is sent again at once',
    { 'sync/uploads/sender.ts': {
      keepingPromise: resolving(sent =>
        sent.failure?.remedy === 'find_out' ? but(sent, 'failure.remedy', 'new_credential') : sent),
    } }],
  [1_000_000_475, 'an answer that tells no image tells that there is none', 'where the host answers no more than success, all is sent again',
    { 'sync/uploads/sender.ts': { withoutId: original => ({ ...original, remedy: 'new_credential' }) } }],
  [63, 'resend before the end of the credential', 'an upload that is served late arrives beside the second one',
    { 'sync/clock.ts': { mayArriveFor: () => () => 0 } }],
  [1_000_000_002, 'one walk for two', 'a walk misses what moves from page to page while others change the album',
    { 'sync/uploads/album-recovery.ts': {
      act: original => (recovery, intent, evidence, looked, signal) =>
        original(recovery, intent, evidence, { ...looked, missed: new Set([intent.id]) }, signal),
    } }],
  [1_000_000_161, 'recovery believes two walks with another between them', 'both may be of those that lack it',
    { 'sync/uploads/album-recovery.ts': { forget: idle } }],
  [13_007, 'half a listing is a whole one', 'what a torn walk does not show is sent again',
    { 'sync/listing/walk.ts': {
      walkAlbum: resolving(walk => (walk.ok ? but(walk, 'value.complete', true) : walk)),
    } }],
  [142, 'an album that is there already is not used', "another person's album gets a twin",
    { 'sync/albums/album-choice.ts': {
      'AlbumChoice.of': resolving((chosen, _, { recorded }) =>
        chosen.value?.id === recorded?.remote_id ? chosen : { ok: true, value: undefined }),
    } }],
  [2007005415, 'an album that several folders may have goes to one while another can not be seen',
    'the other folder gets a second album and a second image',
    { 'sync/albums/album-choice.ts': {
      mirroredFolders: returning((folders: object[]) => folders.map(folder => ({ ...folder, unknown: null }))),
    } }],
  [27017557, 'an album is created where nobody can look and the records are old',
    'the album that was there before gets a twin',
    { 'sync/uploads/upload-queue.ts': {
      AlbumTree: original => class extends original {
        constructor(context: { synced: Synced }) {
          const { meta } = context.synced
          const get = (key: Parameters<typeof meta.get>[0]) => (key === 'restored' ? null : meta.get(key))
          super(but(context, 'synced.meta.get', get))
        }
      },
    } }],
  [535, 'an album is made again at once', 'an album whose answer was lost gets a twin',
    { 'sync/uploads/upload-queue.ts': {
      AlbumTree: original => class extends original {
        constructor(context: { host: ImageHost }) {
          const createAlbum = async (...args: Parameters<ImageHost['createAlbum']>) => {
            const created = await context.host.createAlbum(...args)
            const isInDoubt = !created.ok && created.failure.remedy === 'find_out'
            return isInDoubt ? but(created, 'failure.remedy', 'later') : created
          }
          super(but(context, 'host.createAlbum', createAlbum))
        }
      },
    } }],
  [1_000_000_003, 'the second answer is believed for the first',
    'a deletion whose answer was lost counts as not done when its repetition is refused',
    { 'remote/failures.ts': { wasNotDone: given(0, 'mayBeDone', false) } }],
  [77, 'adopt by name alone', 'a picture is taken for an image of other dimensions',
    { 'sync/listing/evidence.ts': { dimensionsFit: always, sizeFits: always } }],
  [1, 'albums are not looked into before the first upload', 'a lost state sends everything again',
    { 'sync/listing/album-contents.ts': { 'AlbumContents.lookAt': () => async () => ({ ok: true }) } }],
  [1_500_000_038, 'images under names that the host changed are not looked at', 'a lost state sends them again',
    { 'sync/listing/album-contents.ts': { 'AlbumContents.renamed': () => () => [] } }],
  [1_000_000_440, 'a process relies on the albums that are recorded', 'pictures of an album that is gone lie in the root',
    { 'sync/albums/album-doubts.ts': { 'AlbumDoubts.doubtUnlisted': () => async () => null } }],
  [1_000_000_442, 'an image is never replaced', 'where a new version keeps the id of the old one, it is sent again and again',
    { 'sync/uploads/sender.ts': { replacesItsOwn: never },
      'sync/uploads/album-recovery.ts': { foundInItsOwn: never } , 'sync/uploads/recovery.ts': { foundInItsOwn: never } }],
  [1_000_000_744, 'what never arrived has replaced nothing', 'an older version that came late is taken for the newer one',
    { 'records/pictures.ts': { closeInDoubt: () => (tx, { id }) => tx.journal.close(id) } }],
  [1_000_000_746, 'a listed size is never the one that albumd has declared',
    'a picture is linked to an image whose bytes never come', { 'sync/clock.ts': { noteAsked: idle } }],
  [1_000_000_745, 'only an image that a file uses is replaced', 'a picture is sent again and again that got the id of a kept one',
    { 'sync/uploads/sender.ts': {
      replacesItsOwn: original => (run, parcel, ...rest) => parcel.job.file.image !== null && original(run, parcel, ...rest),
    } }],
  [1_000_000_491, 'an image is what is recorded of it, whatever is in doubt',
    'a picture that is as before again counts as there, and the host keeps the other version',
    { 'sync/uploads/upload.ts': { 'Uploader.#isDoubted': never } }],
  [1_000_000_048, 'an album is not looked into again after a node refused',
    'a picture that a proxy sent twice is on the host, and is sent again',
    { 'sync/uploads/sender.ts': { sendBytes: given(0, 'contents', { forget() {} }) } }],
  [1_000_000_420, 'a listed id proves an image', 'a picture that never arrived counts as there, and its old image goes',
    { 'sync/uploads/album-recovery.ts': { isThere: always } }],
  [1_000_000_743, 'an image of another listed size is another one', 'a picture that the host made smaller is sent again',
    { 'sync/uploads/album-recovery.ts': { despiteSize: never } }],
  [1_000_000_421, 'a listed image of no bytes is one', 'a picture that never arrived counts as there, and its old image goes',
    { 'sync/listing/evidence.ts': { isPromised: never } }],
  [77, 'what a lost state had sent is not waited for', 'a picture whose upload arrives late is sent twice',
    { 'sync/uploads/upload.ts': { lossEndsAt: nothing } }],
  [1_000_000_286, 'where images are not counted rightly, one walk is enough', 'what is in doubt stays so',
    { 'sync/listing/walk.ts': { showTheSame: never } }],
]
