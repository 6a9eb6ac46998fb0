import { X509Certificate } from 'node:crypto'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { Agent, request } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { serverCertificate } from '../../src/host/http/authority.ts'
import { png } from '../pictures.ts'
import { tempFolder } from '../temp-folder.ts'
import { uploadBy } from './form.ts'
import { type TestHost, testHost } from './test-host.ts'

const picture = png()

/** An agent that trusts the host's authority and no other. */
function trusting(host: TestHost): Agent {
  const agent = new Agent({ connect: { ca: readFileSync(host.running.caFile!, 'utf8') } })
  onTestFinished(() => agent.close())
  return agent
}

test('over TLS, with its authority trusted, both steps and the delivery work', async () => {
  const host = await testHost({ tls: true })
  const dispatcher = trusting(host)
  const { data } = await uploadBy(dispatcher, host, picture)
  expect([data.upload_url, data.cdn_url].map(url => new URL(url).origin)).toEqual(
    Array(2).fill(host.running.siteUrl),
  )
})

test('the certificate is good for localhost too', async () => {
  const host = await testHost({ tls: true })
  const url = host.running.siteUrl.replace('127.0.0.1', 'localhost')
  const answer = await request(url, { dispatcher: trusting(host) })
  expect(answer.statusCode).toBe(200)
  await answer.body.dump()
})

test('without the authority, its certificate is refused', async () => {
  const host = await testHost({ tls: true })
  await expect(request(host.running.siteUrl)).rejects.toMatchObject({
    code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  })
})

test('plain HTTP is not served where TLS is', async () => {
  const host = await testHost({ tls: true })
  await expect(request(host.running.siteUrl.replace('https:', 'http:'))).rejects.toThrow()
})

test('private keys are for their owner alone', async () => {
  const host = await testHost({ tls: true })
  for (const name of ['ca-key.pem', 'server-key.pem'])
    expect(statSync(join(host.data, name)).mode & 0o777, name).toBe(0o600)
})

test('the authority is made once; the certificate is kept as long as it serves', async () => {
  const folder = tempFolder()
  const first = await serverCertificate(folder, ['127.0.0.1'])
  const authority = readFileSync(join(folder, 'ca.pem'), 'utf8')
  expect(await serverCertificate(folder, ['127.0.0.1'])).toEqual(first)
  const other = await serverCertificate(folder, ['pictures.example'])
  expect(new X509Certificate(other.cert).checkHost('pictures.example')).toBe('pictures.example')
  expect(readFileSync(join(folder, 'ca.pem'), 'utf8')).toBe(authority)
})

test('a certificate that nears its end is renewed under the same authority', async () => {
  const folder = tempFolder()
  await serverCertificate(folder, ['127.0.0.1'])
  const ca = readFileSync(join(folder, 'ca.pem'), 'utf8')
  const ending = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 24 * 60 * 60_000),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
    ca: { cert: ca, key: readFileSync(join(folder, 'ca-key.pem'), 'utf8') },
  })
  writeFileSync(join(folder, 'server.pem'), ending.cert)
  writeFileSync(join(folder, 'server-key.pem'), ending.private)
  const renewed = new X509Certificate((await serverCertificate(folder, ['127.0.0.1'])).cert)
  expect(renewed.validToDate.getTime()).toBeGreaterThan(
    new X509Certificate(ending.cert).validToDate.getTime(),
  )
  expect(renewed.verify(new X509Certificate(ca).publicKey)).toBe(true)
})

test('a certificate without its key, or broken, is made anew', async () => {
  const folder = tempFolder()
  const first = await serverCertificate(folder, ['127.0.0.1'])
  rmSync(join(folder, 'server-key.pem'))
  const second = await serverCertificate(folder, ['127.0.0.1'])
  expect(second.cert).not.toBe(first.cert)
  writeFileSync(join(folder, 'server.pem'), 'no certificate')
  const third = await serverCertificate(folder, ['127.0.0.1'])
  expect(
    new X509Certificate(third.cert).verify(
      new X509Certificate(readFileSync(join(folder, 'ca.pem'))).publicKey,
    ),
  ).toBe(true)
})
