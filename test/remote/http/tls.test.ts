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

test('a host of an unknown authority is not trusted, and the message says what to set', async () => {
  const origin = await serveWith(await certificateFor('127.0.0.1'))
  const untrusted = await failureOf(clientOf(origin).deleteImage('x', never))
  expect(untrusted).toMatchObject({ code: 'HOST_TLS', remedy: 'later' })
  expect(untrusted.message).toMatch(/^Certificate of 127\.0\.0\.1:\d+ is not trusted\. .*host\.ca_file/)
})

test('a host of an authority with the same name and another key is not trusted, and the message says why', async () => {
  const origin = await serveWith(await certificateFor('127.0.0.1'))
  const { cert: ca } = await makeAuthority()
  const untrusted = await failureOf(clientOf(origin, { ca }).deleteImage('x', never))
  expect(untrusted).toMatchObject({ code: 'HOST_TLS' })
  expect(untrusted.message).toMatch(
    /^Certificate of 127\.0\.0\.1:\d+ is not trusted, because host\.ca_file holds another authority\. .*leave it out/,
  )
})

test('a certificate for another address is refused', async () => {
  const origin = await serveWith(await certificateFor('127.0.0.2'))
  const other = await failureOf(clientOf(origin, { ca: authority.cert }).deleteImage('x', never))
  expect(other).toMatchObject({ code: 'HOST_TLS' })
  expect(other.message).toMatch(/is for another name/)
})

test('a certificate that has expired is refused', async () => {
  const origin = await serveWith(await certificateFor('127.0.0.1', new Date('2021-01-01')))
  const expired = await failureOf(clientOf(origin, { ca: authority.cert }).deleteImage('x', never))
  expect(expired).toMatchObject({ code: 'HOST_TLS' })
  expect(expired.message).toMatch(/has expired/)
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
