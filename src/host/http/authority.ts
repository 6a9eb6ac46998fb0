import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { systemClock } from '../../protocol/clock.ts'

export interface Certificate {
  cert: string
  key: string
}

const DAY = 24 * 60 * 60_000
const AUTHORITY_LIFE = 3650 * DAY
const SERVER_LIFE = 365 * DAY

/** A certificate is renewed when it expires within this time. */
const RENEW_BEFORE = 30 * DAY

export function authorityFile(folder: string): string {
  return join(folder, 'ca.pem')
}

/** The certificate for `hosts` and this machine's names. Its authority is made once in `folder`, and clients may trust it. */
export async function serverCertificate(folder: string, hosts: readonly string[]): Promise<Certificate> {
  await mkdir(folder, { recursive: true })
  const authority = await stored(authorityFile(folder), join(folder, 'ca-key.pem'), isFresh, makeAuthority)
  const names = [...new Set(['localhost', '127.0.0.1', '::1', ...hosts])].filter(name => !isWildcard(name))
  const issuer = new X509Certificate(authority.cert)
  const serves = (cert: X509Certificate) =>
    isFresh(cert) && cert.verify(issuer.publicKey) && names.every(name => covers(cert, name))
  return stored(join(folder, 'server.pem'), join(folder, 'server-key.pem'), serves, () =>
    makeServerCertificate(authority, names),
  )
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function isFresh(cert: X509Certificate): boolean {
  return cert.validToDate.getTime() - systemClock.wall() > RENEW_BEFORE
}

function covers(cert: X509Certificate, name: string): boolean {
  return (isIP(name) ? cert.checkIP(name) : cert.checkHost(name)) !== undefined
}

/** The certificate and key of two files. When they are missing or about to expire, `make` makes new ones. */
async function stored(
  certFile: string,
  keyFile: string,
  isGood: (cert: X509Certificate) => boolean,
  make: () => Promise<Certificate>,
): Promise<Certificate> {
  const known = await read(certFile, keyFile)
  if (known && isGood(new X509Certificate(known.cert))) return known
  const made = await make()
  await replace(keyFile, made.key, 0o600)
  await replace(certFile, made.cert, 0o644)
  return made
}

/** Null: a file is missing or broken, or the two do not match because the process was killed between them. */
async function read(certFile: string, keyFile: string): Promise<Certificate | null> {
  try {
    const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)) ? { cert, key } : null
  } catch {
    return null
  }
}

async function replace(file: string, text: string, mode: number): Promise<void> {
  await writeFile(`${file}.new`, text, { mode })
  await rename(`${file}.new`, file)
}

function makeAuthority(): Promise<Certificate> {
  return make('albumd host authority', AUTHORITY_LIFE, [
    { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ])
}

function makeServerCertificate(authority: Certificate, names: readonly string[]): Promise<Certificate> {
  const altNames = names.map(name =>
    isIP(name) ? { type: 7 as const, ip: name } : { type: 2 as const, value: name },
  )
  return make(
    'albumd host',
    SERVER_LIFE,
    [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames },
    ],
    authority,
  )
}

type Extensions = NonNullable<Parameters<typeof import('selfsigned').generate>[1]>['extensions'] & {}

async function make(
  name: string,
  life: number,
  extensions: Extensions,
  ca?: Certificate,
): Promise<Certificate> {
  // Loaded only here, because loading takes longer than all the rest of the host, and a certificate is made once a year.
  const { generate } = await import('selfsigned')
  const now = systemClock.wall()
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    // The certificate is valid from yesterday on, because a client's clock may be behind.
    notBeforeDate: new Date(now - DAY),
    notAfterDate: new Date(now + life),
    extensions,
    ...(ca && { ca }),
  })
  return { cert: made.cert, key: made.private }
}
