import { always, but, given, idle, never, returning } from './by.ts'
import type { By, Row } from './mutant.ts'

/** Only what ended the uploads of a run first is recorded. */
function recordingFirst(): Record<string, By> {
  let stops = 0
  return {
    'UploadQueue.run':
      original =>
      (...args) => {
        stops = 0
        return original(...args)
      },
    'UploadQueue.#stop': original => failure => {
      stops++
      return original(failure)
    },
    recordStop: original => async (run, failure) => {
      if (stops === 1) await original(run, failure)
    },
  }
}

/** What keeps albumd still when it is to be still. */
// biome-ignore format: a mutant is a row.
export const PACING: readonly Row[] = [
  [52, 'a quota that is used up is asked about at once', 'each pass costs a request that the host refuses',
    { 'sync/quota/quota-ledger.ts': {
      'QuotaLedger.state': returning(state => (state === 'exhausted' ? 'probe' : state)),
    } }],
  [36, 'a quota that is used up is asked about too often', 'the host is asked more often than the config has it',
    { 'sync/quota/quota-state.ts': {
      readQuota: original => (synced, allowance, ...rest) =>
        original(synced, { ...allowance, probeEveryMs: allowance.probeEveryMs / 2 }, ...rest),
    } }],
  [1_000_000_450, 'a quota is asked about a day later', 'what comes free bit by bit is not used',
    { 'sync/quota/quota-state.ts': {
      readQuota: original => (synced, allowance, ...rest) =>
        original(synced, { ...allowance, probeEveryMs: 86_400_000 }, ...rest),
    } }],
  [36, 'that a quota is used up is not written down', 'each pass costs a request that the host refuses',
    { 'sync/quota/quota-ledger.ts': { 'QuotaLedger.refuse': idle } }],
  [1_000_000_022, 'that a quota is used up is written down late', 'who is killed meanwhile asks again at once',
    { 'sync/uploads/upload-job.ts': {
      recordStop: original => async (run, failure) => {
        if (failure.remedy === 'quota') await run.clock.sleep(5000, new AbortController().signal)
        return original(run, failure)
      },
    } }],
  [14_001_191, 'a paused pass looks for what is in doubt', 'the host is asked while a person has paused albumd',
    { 'sync/uploads/recovery.ts': { recoverUploads: given(1, 'task', 'mirror') } }],
  [1_000_000_005, 'a pause without an end keeps the end of another', 'a pause ends too soon',
    { 'daemon/state/pause.ts': {
      pause: original => ({ commit }, until) => {
        const keepingEnd = (change: (tx: object) => unknown) =>
          commit((tx: object) => change(but(tx, 'meta.clear', () => {})))
        return original({ commit: keepingEnd }, until)
      },
    } }],
  [14_000_100, 'uploads go on past the border of their hours', 'pictures are sent outside the hours',
    { 'sync/uploads/upload-queue.ts': { isEnded: () => ({ stop }) => stop.aborted } }],
  [14_000_032, 'outside their hours uploads begin', 'pictures are sent outside the hours',
    { 'sync/uploads/upload-queue.ts': { uploadPending: given(1, 'interruption.pauseUploads', undefined) } }],
  [1_000_000_006, 'deletions go on while a person waits', 'a pass that is to end deletes what was given up',
    { 'sync/pass-request.ts': { endingForOthers: () => ({ makeWay: _, ...rest }) => rest } }],
  [1_000_000_004, 'the reserve is not kept', 'a backlog takes what is kept for the pictures of the day',
    { 'sync/quota/quota-state.ts': { onlyReserveLeft: never } }],
  [27013051, 'a new day in the middle of a pass is not noticed',
    "what was new on the day before uses up the next day's reserve",
    { 'sync/uploads/upload-queue.ts': { 'UploadQueue.#upload.isToday': always } }],
  [1_000_000_740, 'what ends uploads counts only where nothing else did',
    'a quota that is used up is asked about again at once',
    { 'sync/uploads/upload-queue.ts': recordingFirst() }],
  [1_000_000_760, 'a credential that is too old fails its picture', 'it waits an hour, and another credential would have done',
    { 'sync/uploads/upload.ts': { CREDENTIALS: () => 1 } }],
  [1_000_000_761, 'refusals of all pictures are those of each', 'all pictures fail while an account is closed',
    { 'sync/uploads/breaker.ts': { 'Breaker.count': never } }],
  [1_000_000_770, 'pictures that are refused in other runs do not count', 'where they come one by one, each fails',
    { 'sync/uploads/breaker.ts': { alikeAmong: () => () => [] } }],
  [1_000_000_761, 'an endpoint that refuses all is asked in each pass', 'each pass costs requests that the host refuses',
    { 'sync/uploads/breaker.ts': { 'Breaker.#isDue': always } }],
  [1_000_000_761, 'an endpoint that refuses all is asked no more', 'no picture is sent when the account is open again',
    { 'sync/uploads/breaker.ts': { 'Breaker.#isDue': never } }],
  [5_000_000_000, 'a block outlives what is taken', 'the host is said to refuse all, though it takes pictures',
    { 'sync/uploads/breaker.ts': { 'Breaker.#unblock': idle } }],
  [1_000_000_011, 'a quota was used up when a clock says that was wrong',
    'uploads stop for as long as the clock was set back',
    { 'sync/quota/quota-ledger.ts': {
      'QuotaLedger.hearRefusal': (original, self) => (tx, failure) => {
        const since = self.read().exhausted?.since
        const exhaust = (row: { exhausted: number }) =>
          tx.account.exhaustQuota({ ...row, exhausted: since ?? row.exhausted })
        return original(but(tx, 'account.exhaustQuota', exhaust), failure)
      },
    } }],
]
