import { join } from 'node:path'
import { freePort } from '../../machine/free-port.ts'
import { untilIdle } from '../../measure/idle.ts'
import type { Means } from '../../part.ts'
import { type Syncthing, startSyncthing } from '../../peers/syncthing.ts'

/** A Syncthing that knows the tree and has come to rest. */
export async function startIdleSyncthing({ cache, say }: Means, tree: string): Promise<Syncthing> {
  say('waits for Syncthing to rest')
  const syncthing = await startSyncthing({
    home: join(cache, 'syncthing'),
    folder: tree,
    guiPort: await freePort(),
    syncPort: await freePort(),
  })
  await syncthing.idle()
  await untilIdle(syncthing.pid)
  return syncthing
}
