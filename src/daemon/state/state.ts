import { existsSync } from 'node:fs'
import { uptime } from 'node:os'
import { realPathOf } from '../../config/paths.ts'
import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import { recordRunning } from '../../records/escrow.ts'
import type { EarlierRequests } from '../../remote/gate/rate-window.ts'
import { albumPathOf } from '../../sync/album.ts'
import { noteBoot, noteLost, noteSetClock } from '../../sync/clock.ts'
import { closeRead, openDatabase, openDatabaseToRead } from '../../synced/database.ts'
import { explained, isOfDatabase, StateError } from '../../synced/state-error.ts'
import { openSynced, type Synced } from '../../synced/synced.ts'
import type { MirrorRow } from '../../synced/tables/mirrors.ts'
import { shellWord } from '../../words/text.ts'
import { type Claim, stateFiles } from './claim.ts'
import { bootId, earlierRequests, endRequests } from './last-process.ts'
import { openRecords } from './records.ts'

/** An open state, locked for this process together with the mirrors' folders. */
export type State = ReturnType<typeof openClaimed>

/** Opens the state of a claimed folder for work, or makes a new one. `say`: tells a person one line on what was wrong with the
 * state. `refuse`: called before anything is written; throws where the state can't be used. Throws StateError. The codes
 * STATE_OTHER_HOST, STATE_OTHER_ALBUM and STATE_OTHER_FOLDER mean that the state does not belong to this config. */
export function openClaimed(
  config: Config,
  claim: Pick<Claim, 'roots' | 'replaced'>,
  say: (line: string) => void,
  refuse: (synced: Synced, config: Config) => void = refuseOther,
) {
  const files = stateFiles(config.state_dir)
  const records = openRecords(files, say, claim)
  const { synced } = records
  let end: 'clean' | 'cut_off' | 'damaged' = 'clean'
  /** Explains an error of work with this state. It is a StateError when the state failed and must be closed. */
  const failed = (error: unknown): unknown => {
    const why = explained(error, files.database)
    if (why instanceof StateError) {
      end = why.code === 'STATE_DAMAGED' ? 'damaged' : 'cut_off'
      claim.replaced ||= why.code === 'STATE_REPLACED'
    }
    return why
  }
  try {
    refuse(synced, config)
    const began = systemClock.monotonic()
    // Records that are lost or an older copy may not know the last request, which is then taken as sent just now.
    const earlier = records.knowLess ? began : earlierRequests(synced, began)
    const runBefore = synced.meta.get('running_ms') ?? 0
    const running = () => Math.round(runBefore + systemClock.monotonic() - began)
    synced.commitNow(tx => {
      tx.meta.set('base_url', config.host.base_url)
      if (records.lostWork) noteLost(tx, began)
      noteBoot(tx, bootId(), began)
      noteSetClock(tx, systemClock.wall() - uptime() * 1000)
      tx.meta.set('pid', process.pid)
      recordRunning(tx, { now: systemClock.wall(), running: runBefore })
      // A daemon removes this entry at its end. A daemon that was killed could not.
      tx.meta.clear('config')
    })
    claim.replaced = false
    /** Closes the state in any case. `sent`: the requests that the next process must count. Throws StateError. */
    const close = (sent: EarlierRequests = systemClock.monotonic()) => {
      try {
        if (end === 'clean') recordEnd(synced, running(), sent)
      } catch (error) {
        throw failed(error)
      } finally {
        records.close(end)
      }
    }
    /** Locks the roots that exist by now and have no lock. Returns the roots that another albumd has locked. */
    const lockMissing = () => claim.roots.lockMissing()
    return { synced, earlier, running, lockMissing, failed, close }
  } catch (error) {
    const why = failed(error)
    // `refuseOther` throws a StateError when the state belongs to another config. The state itself is intact then.
    records.close(error instanceof StateError ? 'clean' : end)
    throw why
  }
}

function recordEnd(synced: Synced, running: number, sent: EarlierRequests): void {
  synced.commitNow(tx => {
    tx.mirrors.endPhases()
    tx.mirrors.endScans()
    recordRunning(tx, { now: systemClock.wall(), running })
    tx.meta.clear('pid')
    tx.meta.clear('config')
    endRequests(tx, sent)
  })
}

/** Whether the state knows anything on the host. If not, as after a mistyped address, it may serve another host. */
function knowsTheHost({ albums, images, journal }: Synced): boolean {
  return images.fullestAlbums(1).length > 0 || albums.all().length > 0 || journal.open().length > 0
}

/** Throws StateError where the state does not belong to this config: a state belongs to one host, and a mirror's records
 * to one folder and one album. Otherwise albumd would upload and delete wrongly.
 *
 * A mirror that was removed from the config keeps its images. Another mirror may not use an album at, above or below that
 * mirror's album, because the same pictures would be uploaded there again. */
export function refuseOther(synced: Synced, { host, mirrors, state_dir }: Config): void {
  const refuse = (code: string, message: string, needsStop = false) => {
    throw new StateError(code, message, needsStop)
  }
  const bound = synced.meta.get('base_url')
  if (bound !== null && bound !== host.base_url && knowsTheHost(synced))
    refuse(
      'STATE_OTHER_HOST',
      `The state in ${state_dir} belongs to ${bound}, the config says ${host.base_url}. Put host.base_url back, or name another state_dir`,
    )
  const recorded = synced.mirrors.all()
  const removed = recorded.filter(
    ({ id, folder }) => !mirrors.some(mirror => mirror.folder === folder) && synced.files.anyOfMirror(id),
  )
  for (const { folder, album } of mirrors) {
    const known = synced.mirrors.of(folder)
    if (known && known.album !== album)
      refuse(
        'STATE_OTHER_ALBUM',
        `${folder} is mirrored in the album "${known.album}", the config says "${album}". Put mirrors[].album back, or name another state_dir to send all again`,
      )
    const before = known ? undefined : recorded.find(mirror => mirror.album === album)
    if (before) {
      const isConfigured = mirrors.some(mirror => mirror.folder === before.folder)
      if (!isConfigured && !existsSync(folder))
        refuse(
          'STATE_OTHER_FOLDER',
          `Album "${album}" mirrors ${before.folder}, and the config says ${folder}, which is not there. Correct mirrors[].folder, or mount its disk`,
        )
      refuse('STATE_OTHER_FOLDER', otherFolder(before, folder, isConfigured), !isConfigured)
    }
    const other = removed.find(mirror => overlap(albumPathOf(mirror.album, ''), albumPathOf(album, '')))
    if (other)
      refuse(
        'STATE_OTHER_FOLDER',
        `Album "${album}" of ${folder} overlaps "${other.album}", which mirrored ${other.folder}. Put mirrors[] back, or name another state_dir than ${state_dir}`,
      )
  }
}

/** Why a mirror's folder is another: the config names another, or a symbolic link lies in its place or above. */
function otherFolder({ folder, album }: MirrorRow, now: string, isConfigured: boolean): string {
  const isLink = realPathOf(folder) === now
  const said = isLink ? `${folder} is a symbolic link to ${now} now` : `the config says ${now}`
  const back = isLink ? 'put the folder back in place of the link' : 'put mirrors[].folder back'
  // The state that the command needs is in use by a running albumd, which may refuse its new config with these same words.
  const move = `If the folder was moved, stop a running albumd and say "albumd move-mirror ${shellWord(folder)} ${shellWord(now)}"; else ${back}`
  return `Album "${album}" mirrors ${folder}, ${said}. ${isConfigured ? 'Put mirrors[].folder back' : move}, or name another album or state_dir`
}

function overlap(one: readonly string[], other: readonly string[]): boolean {
  const [outer, inner] = one.length < other.length ? [one, other] : [other, one]
  return outer.every((name, at) => inner[at] === name)
}

/** Reads the records without a lock, beside a daemon. A state that does not exist reads as empty. Throws StateError. */
export function readState<T>(config: Config, look: (synced: Synced) => T): T {
  const { db, explain, close } = openToRead(config)
  try {
    return look(openSynced(db))
  } catch (error) {
    throw explain(error)
  } finally {
    close()
  }
}

/** Like `readState`, for long work. Throws StateError also where the state belongs to another config. */
export async function reading<T>(config: Config, work: (synced: Synced) => Promise<T>): Promise<T> {
  const { db, explain, close } = openToRead(config)
  try {
    const synced = openSynced(db)
    refuseOther(synced, config)
    return await work(synced)
  } catch (error) {
    // An error of a disk that the work itself met, as in a restore, is not one of the state.
    throw isOfDatabase(error) ? explain(error) : error
  } finally {
    close()
  }
}

function openToRead({ state_dir }: Config) {
  const { database } = stateFiles(state_dir)
  const db = existsSync(database) ? openDatabaseToRead(database) : openDatabase(':memory:')
  const close = () => closeRead(db, database)
  return { db, explain: (error: unknown) => explained(error, database), close }
}
