import type { Mutant } from './mutant.ts'

/** What keeps albumd still when it is to be still. */
export const PACING: readonly Mutant[] = [
  {
    name: 'a quota that is used up is asked about at once',
    edits: [
      {
        file: 'sync/quota/quota-ledger.ts',
        find: "return this.#context.clock.wall() < exhausted.ask ? 'exhausted' : 'probe'",
        replace: "return exhausted.ask < 0 ? 'exhausted' : 'probe'",
      },
    ],
    why: 'each pass costs a request that the host refuses',
    seed: 52,
  },
  {
    name: 'a quota that is used up is asked about too often',
    edits: [
      {
        file: 'sync/quota/quota-state.ts',
        find: 'const soon = { ask: said_at + probeEveryMs, resumes: null }',
        replace: 'const soon = { ask: said_at + probeEveryMs / 2, resumes: null }',
      },
    ],
    why: 'the host is asked more often than the config has it',
    seed: 36,
  },
  {
    name: 'that a quota is used up is not written down',
    edits: [
      {
        file: 'sync/uploads/upload-job.ts',
        find: "if (remedy === 'quota') await synced.commit(tx => quota.refuse(tx, failure))",
        replace: "if (remedy === 'quota') quota.read()",
      },
    ],
    why: 'each pass costs a request that the host refuses',
    seed: 36,
  },
  {
    name: 'that a quota is used up is written down late',
    edits: [
      {
        file: 'sync/uploads/upload-job.ts',
        find: "if (remedy === 'quota') await synced.commit(tx => quota.refuse(tx, failure))",
        replace:
          "if (remedy === 'quota') await clock.sleep(5000, new AbortController().signal).then(() => synced.commit(tx => quota.refuse(tx, failure)))",
      },
    ],
    why: 'who is killed meanwhile asks again at once',
    seed: 1_000_000_022,
  },
  {
    name: 'a paused pass looks for what is in doubt',
    edits: [
      {
        file: 'sync/uploads/recovery.ts',
        find: "if (pass.task !== 'look') pass.notRecovered = await findOut(context, pass)",
        replace: 'pass.notRecovered = await findOut(context, pass)',
      },
    ],
    why: 'the host is asked while a person has paused albumd',
    seed: 14_001_191,
  },
  {
    name: 'a pause without an end keeps the end of another',
    edits: [
      {
        file: 'daemon/state/pause.ts',
        find: "if (until === null) tx.meta.clear('paused_until')\n    else",
        replace: 'if (until !== null)',
      },
    ],
    why: 'a pause ends too soon',
    seed: 1_000_000_005,
  },
  {
    name: 'uploads go on past the border of their hours',
    edits: [
      {
        file: 'sync/uploads/upload-queue.ts',
        find: 'return stop.aborted || pauseUploads?.aborted === true',
        replace: 'return stop.aborted',
      },
    ],
    why: 'pictures are sent outside the hours',
    seed: 14_000_100,
  },
  {
    name: 'outside their hours uploads begin',
    edits: [
      {
        file: 'sync/uploads/upload-pending.ts',
        find: 'const mayBegin = stopped.length === 0 && !interruption.pauseUploads?.aborted',
        replace: 'const mayBegin = stopped.length === 0',
      },
      {
        file: 'sync/uploads/upload-queue.ts',
        find: 'return stop.aborted || pauseUploads?.aborted === true',
        replace: 'return stop.aborted',
      },
    ],
    why: 'pictures are sent outside the hours',
    seed: 14_000_005,
  },
  {
    name: 'deletions go on while a person waits',
    edits: [
      {
        file: 'sync/pass-request.ts',
        find: 'return { ...rest, stop: makeWay ? AbortSignal.any([stop, makeWay]) : stop }',
        replace: 'return { ...rest, stop }',
      },
    ],
    why: 'a pass that is to end deletes what was given up',
    seed: 1_000_000_006,
  },
  {
    name: 'the reserve is not kept',
    edits: [
      {
        file: 'sync/quota/quota-state.ts',
        find: 'return reserve > 0 && limit - used <= limit * reserve',
        replace: 'return reserve < 0 && limit - used <= limit * reserve',
      },
    ],
    why: 'a backlog takes what is kept for the pictures of the day',
    seed: 1_000_000_004,
  },
  {
    name: 'a new day in the middle of a pass is not noticed',
    edits: [
      {
        file: 'sync/uploads/upload-queue.ts',
        find: 'const isToday = () => quota.read().began === began',
        replace: 'const isToday = () => true',
      },
    ],
    why: "what was new on the day before uses up the next day's reserve",
    seed: 27013051,
  },
  {
    name: 'uploads under way go on into the reserve',
    edits: [
      {
        file: 'sync/uploads/upload-queue.ts',
        find: 'await this.#together(files, interruption, () => !this.#isSparing())',
        replace: 'await this.#together(files, interruption, () => true)',
      },
    ],
    why: 'a backlog takes what is kept for the pictures of the day',
    seed: 1_000_000_004,
  },
  {
    name: 'what ends uploads counts only where nothing else did',
    edits: [
      {
        file: 'sync/uploads/upload-queue.ts',
        find: 'this.#stopped?.remedy !== result.failure.remedy',
        replace: 'this.#stopped === null',
      },
    ],
    why: 'a quota that is used up is asked about again at once',
    seed: 16511174,
  },
  {
    name: 'a quota was used up when a clock says that was wrong',
    edits: [
      {
        file: 'sync/quota/quota-ledger.ts',
        find: 'exhausted: Math.min(exhausted?.since ?? now, now)',
        replace: 'exhausted: exhausted?.since ?? now',
      },
    ],
    why: 'uploads stop for as long as the clock was set back',
    seed: 1_000_000_011,
  },
]
