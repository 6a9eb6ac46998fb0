import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { openRedis } from '../../src/shared/redis-store.ts'
import { keyPrefix, script } from '../../src/shared/store.ts'
import { codeOf, inWords } from '../../src/words/reasons.ts'
import { noStore, type RealStore, startStore } from './real-store.ts'

const SET = script("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])")
const prefix = keyPrefix('https://images.example.com/api/v1', 'key')

function open({ url }: Pick<RealStore, 'url'>, password: string | null = null) {
  const store = openRedis({ url, password, ca: null, prefix, name: 'albumd', now: () => performance.now() })
  onTestFinished(() => store.close())
  return store
}

/** The code of the reason why the store is away, or null. */
async function state(store: ReturnType<typeof open>): Promise<string | null> {
  const answer = await store.run(SET, ['name'], ['x'.repeat(2000)])
  return answer.ok ? null : codeOf(answer.away.reason)
}

/** A store that is there. */
async function opened() {
  const real = await startStore()
  const store = open(real)
  await expect.poll(() => state(store)).toBe(null)
  return { real, store }
}

describe.skipIf(noStore)('the store', () => {
  it('runs scripts, and hides host and key in the names of its keys', async () => {
    const { real, store } = await opened()
    expect(await store.run(SET, ['name'], ['value'])).toEqual({ ok: true, value: 'value' })
    expect(await real.say('EXISTS', `${prefix}name`)).toBe(1)
    expect(prefix).toMatch(/^albumd:\{[0-9a-f]{24}\}:$/)
    await real.say('SCRIPT', 'FLUSH')
    expect(await state(store)).toBe(null)
  })

  it('is away when it is stopped, and there again when it is started', async () => {
    const { real, store } = await opened()
    await real.kill()
    await expect.poll(() => state(store)).toBe('store_lost')
    await real.start()
    await expect.poll(() => state(store)).toBe(null)
  })

  it('is away when it does not answer', async () => {
    const { real, store } = await opened()
    real.signal('SIGSTOP')
    expect(await state(store)).toBe('store_slow')
    real.signal('SIGCONT')
    await expect.poll(() => state(store)).toBe(null)
  })

  it('is away when it speaks no TLS, and says so', async () => {
    const real = await startStore()
    const warned = vi.fn()
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const store = open({ url: real.url.replace('redis:', 'rediss:') })
    await expect.poll(() => state(store)).toBe('store_no_tls')
    expect(warned).not.toHaveBeenCalled()
  })

  it('is closed at once, also while it does not answer', async () => {
    const { real, store } = await opened()
    real.signal('SIGSTOP')
    const asked = state(store)
    await store.close()
    // Not store_slow, as half a second later.
    expect(await asked).toBe('store_lost')
  })

  it('is away when it takes no writes, or is full', async () => {
    const { real, store } = await opened()
    await real.say('REPLICAOF', '127.0.0.1', '1')
    await expect.poll(() => state(store)).toBe('store_read_only')
    await real.say('REPLICAOF', 'NO', 'ONE')
    await expect.poll(() => state(store)).toBe(null)
    await real.say('CONFIG', 'SET', 'maxmemory', '1')
    await expect.poll(() => state(store)).toBe('store_full')
    await real.say('CONFIG', 'SET', 'maxmemory', '0')
    await expect.poll(() => state(store)).toBe(null)
  })

  it('says that the password is wrong, and never which one it was', async () => {
    const real = await startStore('--requirepass', 'open sesame')
    const wrong = open(real, 'hunter2')
    await expect.poll(() => state(wrong)).toBe('store_refuses')
    expect(inWords(wrong.away()!.reason)).not.toContain('hunter2')
    const none = open(real)
    await expect.poll(() => state(none)).toBe('store_refuses')
    const right = open(real, 'open sesame')
    await expect.poll(() => state(right)).toBe(null)
    const user = open({ url: real.url.replace('//', '//default@') }, 'open sesame')
    await expect.poll(() => state(user)).toBe(null)
  })
})
