import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { HostFailure, ImageHost, Outcome } from '../../../src/remote/host.ts'
import { ALONE } from '../../../src/sync/claims.ts'
import { type Deletion, sendDelete } from '../../../src/sync/deletions/send-delete.ts'
import type { Synced } from '../../../src/synced/synced.ts'
import { because, type Reason, said } from '../../../src/words/reasons.ts'
import { never } from '../album-stage.ts'

const refused: HostFailure = {
  remedy: 'not_permitted',
  endpoint: 'delete',
  code: 'DELETE_FAILED',
  status: 500,
  message: said('no'),
}
const lost: HostFailure = {
  remedy: 'find_out',
  endpoint: 'delete',
  code: 'HOST_UNREACHABLE',
  message: said('lost'),
}

/** Sends one DELETE to a host that answers so. Answers what happened, in its order. */
async function sent(answer: Outcome<object>, whyNot: Reason | null = null): Promise<string[]> {
  const steps: string[] = []
  const host = {
    async deleteImage(_id: string, _signal: AbortSignal, mayLeave: () => boolean) {
      if (!mayLeave()) return { ok: false, failure: { ...refused, remedy: 'give_way' } }
      steps.push('sent')
      return answer
    },
  } as unknown as ImageHost
  const synced = { commit: async (change: (tx: object) => void) => change({}) } as unknown as Synced
  const deletion: Deletion = {
    target: { image: 'id' },
    intend: () => void steps.push('intent'),
    whyNot: () => whyNot,
    done: () => void steps.push('done'),
    notDone: () => void steps.push('not done'),
  }
  await sendDelete({ host, synced, claims: ALONE }, deletion, never)
  return steps
}

describe('the door to DELETE', () => {
  it('stands in one file', () => {
    const src = join(import.meta.dirname, '../../../src')
    const senders = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
      name => name.endsWith('.ts') && /\.delete(Image|Album)\(/.test(readFileSync(join(src, name), 'utf8')),
    )
    // own-account passes the calls of the engine on, once the key is known to belong to the recorded account. The client passes
    // them on, once HTTP is loaded.
    expect(senders.sort()).toEqual([
      'daemon/state/own-account.ts',
      'remote/client.ts',
      'sync/deletions/send-delete.ts',
    ])
  })

  it('writes the intent down before the request leaves', async () => {
    expect(await sent({ ok: true, value: {} })).toEqual(['intent', 'sent', 'done'])
  })

  it('sends nothing when a question speaks against the deletion', async () => {
    expect(await sent({ ok: true, value: {} }, because('in_use'))).not.toContain('sent')
  })

  it('takes the intent back on the word of the host alone, and leaves it when the answer is lost', async () => {
    expect(await sent({ ok: false, failure: refused })).toEqual(['intent', 'sent', 'not done'])
    expect(await sent({ ok: false, failure: lost })).toEqual(['intent', 'sent'])
  })
})
