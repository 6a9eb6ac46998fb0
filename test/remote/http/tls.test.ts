import { generate } from 'selfsigned'
import { beforeAll, expect, test } from 'vitest'
import { clientOf, failureOf, never, successOf } from '../client-of.ts'
import { json, serve } from '../serve.ts'

type Pem = Awaited<ReturnType<typeof generate>>

let authority: Pem

/** A certificate for the address `ip`, signed by the authority. */
function certificateFor(ip: string, notAfterDate = new Date('2100-01-01')): Promise<Pem> {
  return generate([{ name: 'commonName', value: 'albumd test' }], {
    algorithm: 'sha256',
    keyType: 'ec',
    ca: { key: authority.private, cert: authority.cert },
    notBeforeDate: new Date('2020-01-01'),
    notAfterDate,
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip }] }],
  })
}

function makeAuthority(): Promise<Pem> {
  return generate([{ name: 'commonName', value: 'albumd test authority' }], {
    algorithm: 'sha256',
    keyType: 'ec',
    notBeforeDate: new Date('2020-01-01'),
    notAfterDate: new Date('2100-01-01'),
    extensions: [{ name: 'basicConstraints', cA: true, critical: true }],
  })
}

beforeAll(async () => {
  authority = await makeAuthority()
})

const serveWith = ({ private: key, cert }: Pem) =>
  serve((_, response) => json(response, 200, { success: true, message: 'deleted' }), { key, cert })

test('a host is trusted when ca_file names its authority', async () => {
  const origin = await serveWith(await certificateFor('127.0.0.1'))
  await successOf(clientOf(origin, { ca: authority.cert }).deleteImage('x', never))
})

const LATE = new Date('2021-01-01')

test.each<[string, () => Promise<Pem>, () => Promise<string | undefined>, string]>([
  [
    'of an unknown authority',
    () => certificateFor('127.0.0.1'),
    async () => undefined,
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
  [
    'of an authority with the same name and another key',
    () => certificateFor('127.0.0.1'),
    async () => (await makeAuthority()).cert,
    'other_authority',
  ],
  [
    'for another address',
    () => certificateFor('127.0.0.2'),
    async () => authority.cert,
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  [
    'that has expired',
    () => certificateFor('127.0.0.1', LATE),
    async () => authority.cert,
    'CERT_HAS_EXPIRED',
  ],
])('a certificate %s is refused, and the message says why', async (_, certificate, caOf, why) => {
  const origin = await serveWith(await certificate())
  const ca = await caOf()
  const refused = await clientOf(origin, ca === undefined ? {} : { ca }).deleteImage('x', never)
  expect(refused).toMatchObject({ ok: false, failure: { code: 'HOST_TLS', remedy: 'later' } })
  expect(JSON.stringify(refused)).toContain(why)
})

test('a host that does not speak TLS is refused', async () => {
  const origin = await serve((_, response) => json(response, 200, {}))
  const plain = await failureOf(clientOf(origin.replace('http:', 'https:')).deleteImage('x', never))
  expect(plain).toMatchObject({ code: 'HOST_TLS' })
})

test('without a secure connection, the creation of an album is not in doubt', async () => {
  const origin = await serveWith(await certificateFor('127.0.0.1'))
  expect((await failureOf(clientOf(origin).createAlbum({ name: 'A' }, never))).remedy).toBe('later')
})
