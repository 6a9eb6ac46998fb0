import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { png } from '../pictures.ts'
import { KEY } from './choices.ts'
import { uploadBy } from './form.ts'
import { type TestHost, testHost } from './test-host.ts'

const picture = png()

/** An agent on another machine: it has the host's authority, and the name leads it to the host. */
function elsewhere(host: TestHost): Agent {
  const ca = readFileSync(host.running.caFile!, 'utf8')
  const agent = new Agent({
    connect: {
      ca,
      lookup: (_name, options, found) =>
        options.all
          ? found(null, [{ address: '127.0.0.1', family: 4 }])
          : (found as (error: null, address: string, family: number) => void)(null, '127.0.0.1', 4),
    },
  })
  onTestFinished(() => agent.close())
  return agent
}

/** A port that is free now, for the public address has to name the port that is listened on. */
async function freePort(): Promise<number> {
  const host = await testHost()
  await host.running.close()
  return host.running.port
}

test('every address is the public one, and another machine can upload, list and fetch by it', async () => {
  const port = await freePort()
  const publicUrl = `https://images.test:${port}`
  const host = await testHost({ tls: true, listen: { host: '0.0.0.0', port }, publicUrl })
  const { baseUrl, siteUrl, cdnBaseUrl } = host.running
  expect([baseUrl, siteUrl, cdnBaseUrl]).toEqual([`${publicUrl}/api/v1`, publicUrl, publicUrl])

  const dispatcher = elsewhere(host)
  const { data } = await uploadBy(dispatcher, host, picture)
  expect([data.upload_url, data.cdn_url].map(url => new URL(url).origin)).toEqual([publicUrl, publicUrl])
  const listed = await request(`${baseUrl}/list`, { headers: { 'X-API-Key': KEY }, dispatcher })
  expect(await listed.body.json()).toMatchObject({ data: { cdn_base_url: publicUrl } })
})

test.each(['10.1.2.3', '[2001:db8::7]', 'images.test'])(
  'the certificate is good for https://%s',
  async name => {
    const port = await freePort()
    const host = await testHost({
      tls: true,
      listen: { host: '127.0.0.1', port },
      publicUrl: `https://${name}:${port}`,
    })
    const bare = name.replace(/^\[|\]$/g, '')
    const certificate = new X509Certificate(readFileSync(`${host.data}/server.pem`))
    expect(isIP(bare) ? certificate.checkIP(bare) : certificate.checkHost(bare)).toBe(bare)
    expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1')
  },
)
