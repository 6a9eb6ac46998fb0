import type { Config } from '../../config/schema.ts'
import { systemClock } from '../../protocol/clock.ts'
import { given, type Restored } from '../../records/images.ts'
import type { SharedAccount } from '../../shared/account.ts'
import type { AlbumClaims } from '../../shared/claims.ts'
import type { Interruption, Scope } from '../../sync/pass-request.ts'
import { openClaims } from '../engine/claims.ts'
import { type Engine, openEngine, type PassOptions } from '../engine/engine.ts'
import { type Access, openSharedAccount } from '../engine/remote.ts'
import { Bus } from '../events.ts'
import { UploadCommand } from '../notify/upload-command.ts'
import { claimState } from '../state/claim.ts'
import { ownAlbums } from '../state/machine.ts'
import { type Pause, pause, pauseAt, resume } from '../state/pause.ts'
import { openClaimed, type State } from '../state/state.ts'
import { auditCommand } from './audit.ts'
import { type Command, type CommandContext, type CommandOutput, NotPossible } from './command.ts'
import { deletionsCommand } from './deletions.ts'
import { adoptCommand, putCommand, retryCommand, syncCommand } from './sync.ts'
import { trustCommand } from './trust.ts'

/** `forMs`: how many milliseconds the pause lasts. Null: until `resume`. */
export const pauseCommand: Command<{ forMs: number | null }, Pause> = {
  request: z => z.strictObject({ forMs: z.int().min(0).nullable() }),
  atOnce: true,
  async carryOut({ synced }, { forMs }) {
    const until = forMs === null ? null : systemClock.wall() + forMs
    await pause(synced, until)
    return { until }
  },
}

export const resumeCommand: Command<object, { paused: Pause | null }> = {
  request: z => z.strictObject({}),
  atOnce: true,
  async carryOut({ synced }) {
    const paused = pauseAt(synced, systemClock.wall())
    await resume(synced)
    return { paused }
  },
}

/** What a restore is about to write where the host delivers other bytes than it was sent. `hash`: in hexadecimal digits. */
const givenCommand: Command<{ pictures: (Omit<Restored, 'hash'> & { hash: string })[] }, object> = {
  request: z => {
    const [how, turned] = [z.enum(['stripped', 'packed', 'encoded']), z.literal([0, 1])]
    const picture = z.strictObject({
      remote_id: z.string(),
      hash: z.hex().length(64),
      size: z.int(),
      how,
      turned,
    })
    return z.strictObject({ pictures: z.array(picture) })
  },
  atOnce: true,
  isSilent: true,
  async carryOut({ synced }, { pictures }) {
    const restored = pictures.map(({ hash, ...picture }) => ({ ...picture, hash: Buffer.from(hash, 'hex') }))
    await synced.commit(tx => given(tx, restored))
    return {}
  },
}

/** Takes the albums of the mirrors from machines that are gone. `albums`: the albums that this machine has now. */
const takeAlbumCommand: Command<object, { albums: string[] }> = {
  request: z => z.strictObject({}),
  needsHost: true,
  // `carryOutHere` has taken the albums by now. A running daemon has its albums already.
  async carryOut({ config }) {
    if (config.account.shared === undefined)
      throw new NotPossible('No machine has claims on albums, because account.shared is not set')
    return { albums: ownAlbums(config.mirrors).albums }
  },
}

/** The commands that act on the state. The daemon carries them out while one runs, and else the command line does. */
export const commands = {
  sync: syncCommand,
  put: putCommand,
  retry: retryCommand,
  audit: auditCommand,
  adopt: adoptCommand,
  deletions: deletionsCommand,
  trust: trustCommand,
  take_album: takeAlbumCommand,
  given: givenCommand,
  pause: pauseCommand,
  resume: resumeCommand,
}

export type CommandName = keyof typeof commands
export type RequestOf<N extends CommandName> = Parameters<(typeof commands)[N]['carryOut']>[1]
export type ResultOf<N extends CommandName> = Awaited<ReturnType<(typeof commands)[N]['carryOut']>>

export function commandNamed(name: string): Command<unknown, unknown> | null {
  return Object.hasOwn(commands, name) ? (commands[name as CommandName] as Command<unknown, unknown>) : null
}

/** A person waits for the command, so an outage ends it soon. */
const PATIENCE = { attempts: 4, maxDelayMs: 2000 }

function scopeIn(folder: string, { scope }: PassOptions = {}): Scope {
  return scope ? (scope.get(folder) ?? []) : 'everything'
}

/** Carries a command out in this process, under the state's lock. Throws LockedError, StateError, and the command's
 * errors. */
export async function carryOutHere<N extends CommandName>(
  config: Config,
  access: Access | null,
  name: N,
  request: RequestOf<N>,
  output: CommandOutput,
  interruption: Interruption,
): Promise<ResultOf<N>> {
  const claim = claimState(config)
  let state: State | null = null
  let engine: Engine | null = null
  let shared: SharedAccount | null = null
  let claims: AlbumClaims | null = null
  const onUpload = new UploadCommand(
    ({ path, message }) => output.say(`notify.on_upload${path === null ? '' : ` (${path})`}: ${message}`),
    interruption.stop,
    false,
  )
  try {
    state = openClaimed(config, claim, output.say)
    const { synced } = state
    shared = access && (await openSharedAccount(config, access, synced))
    const take = name === 'take_album'
    const held = shared && (await openClaims(config, shared, synced, interruption, { take, say: output.say }))
    claims = held?.claims ?? null
    if (held) interruption = held.interruption
    const options = { patience: PATIENCE, isDaemon: false, shared, claims }
    const bus = new Bus()
    bus.on('pass', output.emit)
    onUpload.listen(bus, config.notify.on_upload, synced)
    const context: CommandContext = {
      config,
      synced,
      engine: () => (engine ??= openEngine(config, access!, state!, options, bus)),
      interruption,
      output,
      pass: options => context.engine().pass(interruption, ({ folder }) => scopeIn(folder, options), options),
      othersWait: () => false,
      giveWay: async () => {},
    }
    const result = (await commandNamed(name)!.carryOut(context, request)) as ResultOf<N>
    held?.throwWhereLost()
    return result
  } catch (error) {
    throw state ? state.failed(error) : error
  } finally {
    const sent = await (engine as Engine | null)?.close()
    await (claims as AlbumClaims | null)?.close()
    await (shared as SharedAccount | null)?.close()
    try {
      state?.close(sent)
    } finally {
      claim.release()
      // The commands for the last pictures may take long. Other commands of albumd do not wait for them.
      await onUpload.end()
    }
  }
}
