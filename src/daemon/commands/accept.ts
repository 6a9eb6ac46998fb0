import { z } from 'zod'
import { accepted } from '../../records/pictures.ts'
import { type FailureStatus, failureStatus, isAcceptable } from '../report/failures.ts'
import { type Command, NotPossible, refuseSeveral } from './command.ts'
import { isAt } from './sync.ts'

/** `path`: absolute, or below a mirror's folder. `undo`: the failures at and below the path count as trouble again. */
interface AcceptRequest {
  path: string
  undo: boolean
}

/** Accepts the failures of pictures at and below a path. Answers the failures that it concerned. */
export const acceptCommand: Command<AcceptRequest, { failures: FailureStatus[] }> = {
  request: z.strictObject({ path: z.string(), undo: z.boolean() }),
  async carryOut({ config, synced }, { path, undo }) {
    const isIn = isAt(config, synced, path)
    const inQuestion = () =>
      synced.summaries.failures(Number.MAX_SAFE_INTEGER).filter(each => isAcceptable(each) && isIn(each))
    const failures = inQuestion().filter(({ accepted_at }) => !undo || accepted_at !== null)
    if (failures.length === 0)
      throw new NotPossible(
        undo
          ? `No failure at or below ${path} is accepted. "albumd accept --list" names those that are`
          : `No picture at or below ${path} has failed. "albumd status" lists what did; a folder in doubt takes "albumd trust"`,
      )
    const folderOf = ({ mirror }: { mirror: number }) => synced.mirrors.byId(mirror)!.folder
    refuseSeveral(path, failures.map(folderOf))
    const now = Date.now()
    await synced.commit(tx => accepted(tx, failures, { accept: !undo, now }))
    const accepted_at = undo ? null : now
    return {
      failures: failures.map(failure => failureStatus(folderOf(failure), { ...failure, accepted_at })),
    }
  },
}
