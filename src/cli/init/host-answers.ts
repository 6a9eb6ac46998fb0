import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readApiKey } from '../../config/host-access.ts'
import { unreadable } from '../../config/read-file.ts'
import { checkEndpoints, openHostToAsk } from '../../daemon/doctor/endpoints.ts'
import type { Finding } from '../../daemon/doctor/finding.ts'
import { checkReach, checkTls } from '../../daemon/doctor/host.ts'
import { CREDENTIAL_LIFETIME_MS, REQUESTS_PER_SECOND } from '../../protocol/limits.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'
import type { Asker } from './asker.ts'
import { type Draft, faultIn } from './draft.ts'

export interface HostOptions {
  'base-url': string | undefined
  'ca-file': string | undefined
  /** Whether the host may be asked. */
  check: boolean
}

const TIMEOUT_MS = 15_000

/** Asks for the host's address, and for its certificate authority when it needs one, and checks both with the host. */
export async function agreeOnHost(asker: Asker, options: HostOptions, draft: Draft): Promise<void> {
  const { host } = draft.config
  const ca = options['ca-file']
  if (ca !== undefined) host.ca_file = resolve(ca)
  const canAsk = asker.person && options['base-url'] === undefined
  const look = () => (options.check ? faultOfHost(host) : null)
  const words = "The image host's interface"
  let question: { words: string; fallback?: string } = {
    words: `${words}, such as https://images.example.com/api/v1`,
  }
  for (;;) {
    host.base_url = await asker.ask(
      {
        option: 'base-url',
        given: options['base-url'],
        ...question,
      },
      base_url =>
        faultIn({ ...draft, config: { ...draft.config, host: { ...host, base_url } } }, 'host.base_url'),
    )
    let fault = await look()
    if (canAsk && fault?.check === 'tls' && ca === undefined) {
      process.stdout.write(`  ${fault.message}\n`)
      await askForAuthority(asker, host)
      fault = await look()
    }
    if (fault === null) return
    if (!canAsk) throw new Problem(EXIT.left, `${fault.message}; --no-check writes the config all the same`)
    process.stdout.write(`  ${fault.message}\n`)
    // When something else than the address was wrong, the address is not asked again.
    question = { words, fallback: host.base_url }
  }
}

async function askForAuthority(asker: Asker, host: Draft['config']['host']): Promise<void> {
  const answer = await asker.ask(
    {
      option: 'ca-file',
      words: "The certificate of the host's own authority (PEM file), or none",
      fallback: 'none',
    },
    file => (file === 'none' ? null : faultOfFile(file)),
  )
  if (answer === 'none') delete host.ca_file
  else host.ca_file = resolve(answer)
}

function faultOfFile(file: string): string | null {
  try {
    const held = readFileSync(resolve(file), 'utf8').includes('-----BEGIN CERTIFICATE-----')
    return held ? null : 'that file holds no certificate'
  } catch (error) {
    return unreadable((error as NodeJS.ErrnoException).code)
  }
}

async function faultOfHost(host: Draft['config']['host']): Promise<Finding | null> {
  const tls = await checkTls(host.base_url, authorityOf(host), TIMEOUT_MS, new AbortController().signal)
  if (tls.status === 'fail') return tls
  const [reach] = await checkReach(host.base_url, authorityOf(host), TIMEOUT_MS, new AbortController().signal)
  return reach!.status === 'fail' ? reach! : null
}

/** What the host answers about a key: about the key itself, then about each endpoint. */
export async function askWithKey(host: Draft['config']['host'], key: string): Promise<Finding[]> {
  const { origin, href } = new URL(host.base_url)
  const settings = {
    base_url: href.replace(/\/$/, ''),
    site_url: origin,
    upload_form: 'credential',
    timeout: TIMEOUT_MS,
    credential_lifetime: CREDENTIAL_LIFETIME_MS,
    requests_per_second: REQUESTS_PER_SECOND,
  } as const
  const asked = openHostToAsk(settings, { apiKey: key, ca: authorityOf(host) }, null)
  try {
    const findings: Finding[] = []
    for await (const finding of checkEndpoints(asked, new AbortController().signal)) findings.push(finding)
    return findings
  } finally {
    await asked.close()
  }
}

function authorityOf({ ca_file }: Draft['config']['host']): string | null {
  if (ca_file === undefined) return null
  const fault = faultOfFile(ca_file)
  if (fault !== null) throw new Problem(EXIT.usage, `--ca-file: ${fault}`)
  return readFileSync(ca_file, 'utf8')
}

export interface KeyOptions {
  'api-key-file': string | undefined
  check: boolean
}

/** Asks for the key and tries it on the host. Null when a file holds the key already. Throws Problem and ConfigError. */
export async function agreeOnKey(
  asker: Asker,
  { 'api-key-file': file, check }: KeyOptions,
  { config: { host } }: Draft,
): Promise<string | null> {
  const held = file === undefined ? keyOfEnvironment() : keyIn(resolve(file))
  if (held) {
    const refusal = check ? await refusalOf(host, held) : null
    if (refusal !== null)
      throw new Problem(EXIT.refused, `${refusal}; --no-check writes the config all the same`)
    if (file === undefined) return held
    host.api_key_file = resolve(file)
    return null
  }
  return asker.ask({ option: 'api-key-file', words: 'The API key (not shown)', secret: true }, key => {
    if (!/^[\x21-\x7e]+$/.test(key)) return 'holds characters that no API key has'
    return check ? refusalOf(host, key) : null
  })
}

function keyIn(file: string): string {
  return readApiKey({ host: { api_key_file: file } }, {}).key
}

/** The key as albumd reads it later: without the end of the line, and refused when it does not fit into a header. */
function keyOfEnvironment(): string | null {
  const { ALBUMD_API_KEY } = process.env
  return ALBUMD_API_KEY ? readApiKey({ host: {} }, { ALBUMD_API_KEY }).key : null
}

/** Why the host refuses the key, or null. Endpoints outside the plan are mentioned, and are no reason to refuse it. */
async function refusalOf(host: Draft['config']['host'], key: string): Promise<string | null> {
  const findings = await askWithKey(host, key)
  const refused = findings.find(({ check, status }) => check === 'key' && status === 'fail')
  if (refused) return refused.message
  for (const finding of findings) if (finding.status !== 'pass') tell(finding)
  return null
}

function tell({ message, remedy }: Finding): void {
  process.stdout.write(`  ${printable(message)}${remedy ? `: ${printable(remedy)}` : ''}\n`)
}
