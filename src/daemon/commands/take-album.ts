import { z } from 'zod'
import { ownAlbums } from '../state/machine.ts'
import { type Command, NotPossible } from './command.ts'

/** Takes the albums of the mirrors from machines that are gone. `albums`: the albums that this machine has now. */
export const takeAlbumCommand: Command<object, { albums: string[] }> = {
  request: z.strictObject({}),
  needsHost: true,
  // `carryOutHere` has taken the albums by now. A running daemon has its albums already.
  async carryOut({ config }) {
    if (config.account.shared === undefined)
      throw new NotPossible('No machine has claims on albums, because account.shared is not set')
    return { albums: ownAlbums(config.mirrors).albums }
  },
}
