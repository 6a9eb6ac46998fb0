import { NotPossible, Refused } from '../../daemon/commands/command.ts'
import type { CommandQueue, Session } from '../../daemon/commands/queue.ts'
import { putCommand } from '../../daemon/commands/sync.ts'
import { type Incoming, openIntake } from '../../daemon/intake/intake.ts'
import { type Ended, endsOf, type Sent, sentPictures, whyStopped } from '../../daemon/report/sent-pictures.ts'
import { systemClock } from '../../protocol/clock.ts'
import type { MirrorLocation } from '../../sync/scan/index.ts'
import { nameOf } from '../../sync/tree-path.ts'
import { capital } from '../../words/text.ts'

const LONGEST_ORIGIN = 200

/** What became of a picture of the request. `origin`: the path or name that the request had. */
type Taken = { origin: string; place: MirrorLocation } | { origin: string; why: string }

/** Puts a picture into the folder. A picture that can't be taken does not stop the others. */
export type Take = (origin: string, find: () => Incoming | Promise<Incoming>) => Promise<Taken>

export type Taking = (take: Take) => Promise<Taken[]>

/** Puts pictures into `picgo_server.folder`, and has them sent as the command put does. Returns what PicGo answers: addresses
 * in the order of the request, `fullResult` as PicList has it, and what became of the others. `left`: aborted when nobody waits
 * for the answer any more. Throws Refused. */
export async function putNow(queue: CommandQueue, left: AbortSignal, taking: Taking) {
  const { config, synced } = sessionOf(queue)
  const intake = openIntake(config, synced, config.picgo_server.folder!)
  const taken = await taking(async (origin, find) => {
    try {
      return { origin, place: await intake(await find()) }
    } catch (error) {
      if (error instanceof Refused) return { origin, why: error.message }
      throw error
    }
  })
  const places = taken.flatMap(one => ('place' in one ? [one.place] : []))
  const sent = (await send(queue, places, left)).values()
  const all = taken.map(one => ({ ...one, ...('place' in one ? sent.next().value : null) }))
  const fullResult = all.flatMap(({ origin, path, cdn_url }) =>
    path && cdn_url ? [{ imgUrl: cdn_url, fileName: nameOf(path), origin }] : [],
  )
  const missing = Map.groupBy(
    all.filter(({ cdn_url }) => !cdn_url),
    one => ('why' in one ? one.why : `saved in ${config.picgo_server.folder}. ${capital(one.reason ?? '')}`),
  )
  const told = [...missing].map(
    ([why, those]) => `${those.map(({ origin }) => shortened(origin)).join(', ')}: ${why}`,
  )
  return {
    success: fullResult.length > 0,
    result: fullResult.map(({ imgUrl }) => imgUrl),
    fullResult,
    ...(told.length > 0 && { message: told.join('; ') }),
  }
}

/** A list may hold whole pictures as data: addresses. */
function shortened(origin: string): string {
  return origin.length > LONGEST_ORIGIN ? `${origin.slice(0, LONGEST_ORIGIN)}…` : origin
}

async function send(
  queue: CommandQueue,
  places: readonly MirrorLocation[],
  left: AbortSignal,
): Promise<Sent[]> {
  const results = (ended: Ended | null) => {
    const { config, synced } = sessionOf(queue)
    return sentPictures({ config, synced, running: true, now: systemClock.wall() }, places, ended, 1)
  }
  const before = results(null)
  const paths = before.filter(({ cdn_url }) => cdn_url === null).map(({ path }) => path)
  if (paths.length === 0) return before
  const { emit, done } = endsOf(paths)
  const leave = AbortSignal.any([left, done.signal])
  const ended = Promise.withResolvers<Ended['why']>()
  leave.addEventListener('abort', () => ended.resolve(null))
  const output = { emit, say() {}, progress() {} }
  queue
    .ask(putCommand, { paths }, { output, left: leave })
    .then(result => ended.resolve(whyStopped(result)), ended.reject)
  return results({ isRefused: false, why: await ended.promise })
}

function sessionOf({ session }: CommandQueue): Session {
  if (session) return session
  throw new NotPossible('albumd can not use its state now; its log says why')
}
