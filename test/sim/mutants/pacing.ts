import { always, but, idle, never } from './by.ts'
import type { By, Mutant } from './mutant.ts'

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
export const PACING: readonly Mutant[] = [
  {
    name: 'a quota that is used up is asked about at once',
    why: 'each pass costs a request that the host refuses',
    seed: 52,
    instead: {
      'sync/quota/quota-ledger.ts': {
        'QuotaLedger.state': original => () => {
          const state = original()
          return state === 'exhausted' ? 'probe' : state
        },
      },
    },
  },
  {
    name: 'a quota that is used up is asked about too often',
    why: 'the host is asked more often than the config has it',
    seed: 36,
    instead: {
      'sync/quota/quota-state.ts': {
        readQuota:
          original =>
          (synced, allowance, ...rest) =>
            original(synced, { ...allowance, probeEveryMs: allowance.probeEveryMs / 2 }, ...rest),
      },
    },
  },
  {
    name: 'that a quota is used up is not written down',
    why: 'each pass costs a request that the host refuses',
    seed: 36,
    instead: { 'sync/quota/quota-ledger.ts': { 'QuotaLedger.refuse': idle } },
  },
  {
    name: 'that a quota is used up is written down late',
    why: 'who is killed meanwhile asks again at once',
    seed: 1_000_000_022,
    instead: {
      'sync/uploads/upload-job.ts': {
        recordStop: original => async (run, failure) => {
          if (failure.remedy === 'quota') await run.clock.sleep(5000, new AbortController().signal)
          return original(run, failure)
        },
      },
    },
  },
  {
    name: 'a paused pass looks for what is in doubt',
    why: 'the host is asked while a person has paused albumd',
    seed: 14_001_191,
    instead: {
      'sync/uploads/recovery.ts': {
        recoverUploads: original => (context, pass) => original(context, { ...pass, task: 'mirror' }),
      },
    },
  },
  {
    name: 'a pause without an end keeps the end of another',
    why: 'a pause ends too soon',
    seed: 1_000_000_005,
    instead: {
      'daemon/state/pause.ts': {
        pause:
          original =>
          ({ commit }, until) =>
            original(
              {
                commit: (change: (tx: object) => unknown) =>
                  commit((tx: object) => change(but(tx, 'meta.clear', () => {}))),
              },
              until,
            ),
      },
    },
  },
  {
    name: 'uploads go on past the border of their hours',
    why: 'pictures are sent outside the hours',
    seed: 14_000_100,
    instead: {
      'sync/uploads/upload-queue.ts': {
        isEnded:
          () =>
          ({ stop }) =>
            stop.aborted,
      },
    },
  },
  {
    name: 'outside their hours uploads begin',
    why: 'pictures are sent outside the hours',
    seed: 14_000_032,
    instead: {
      'sync/uploads/upload-pending.ts': {
        uploadPending: original => (context, pass, before) => {
          const { pauseUploads: _, ...interruption } = pass.interruption
          return original(context, { ...pass, interruption }, before)
        },
      },
    },
  },
  {
    name: 'deletions go on while a person waits',
    why: 'a pass that is to end deletes what was given up',
    seed: 1_000_000_006,
    instead: {
      'sync/pass-request.ts': {
        endingForOthers:
          () =>
          ({ makeWay: _, ...rest }) =>
            rest,
      },
    },
  },
  {
    name: 'the reserve is not kept',
    why: 'a backlog takes what is kept for the pictures of the day',
    seed: 1_000_000_004,
    instead: { 'sync/quota/quota-state.ts': { onlyReserveLeft: never } },
  },
  {
    name: 'a new day in the middle of a pass is not noticed',
    why: "what was new on the day before uses up the next day's reserve",
    seed: 27013051,
    instead: { 'sync/uploads/upload-queue.ts': { 'UploadQueue.#upload.isToday': always } },
  },
  {
    name: 'what ends uploads counts only where nothing else did',
    why: 'a quota that is used up is asked about again at once',
    seed: 1_000_000_740,
    instead: { 'sync/uploads/upload-queue.ts': recordingFirst() },
  },
  {
    name: 'a quota was used up when a clock says that was wrong',
    why: 'uploads stop for as long as the clock was set back',
    seed: 1_000_000_011,
    instead: {
      'sync/quota/quota-ledger.ts': {
        'QuotaLedger.hearRefusal': (original, self) => (tx, failure) => {
          const since = self.read().exhausted?.since
          const exhaust = (row: { exhausted: number }) =>
            tx.account.exhaustQuota({ ...row, exhausted: since ?? row.exhausted })
          return original(but(tx, 'account.exhaustQuota', exhaust), failure)
        },
      },
    },
  },
]
