import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { unreadable } from '../../config/read-file.ts'
import { checkEndpoints, type HostQuestions, openHostQuestions } from '../../daemon/doctor/endpoints.ts'
import type { Finding } from '../../daemon/doctor/finding.ts'
import { checkReach, checkTls } from '../../daemon/doctor/host.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import type { Asker } from './asker.ts'
import { type Draft, faultIn } from './draft.ts'

export interface HostOptions {
  'base-url': string | undefined
  'ca-file': string | undefined
  /** Whether the host is asked at all. */
  check: boolean
}

const TIMEOUT_MS = 15_000

/** The host's address, and its authority where it needs one, checked against the host itself. */
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
    // Where the fault was not the address, nobody types it twice.
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
  return asking(host, '', async questions => {
    const [reach] = await checkReach(questions, new URL(host.base_url).host, new AbortController().signal)
    return reach!.status === 'fail' ? reach! : null
  })
}

/** What the host says of a key: of the key itself, then of each endpoint. */
export function askWithKey(host: Draft['config']['host'], key: string): Promise<Finding[]> {
  return asking(host, key, async questions => {
    const findings: Finding[] = []
    for await (const finding of checkEndpoints(questions, new AbortController().signal))
      findings.push(finding)
    return findings
  })
}

async function asking<T>(
  host: Draft['config']['host'],
  key: string,
  work: (questions: HostQuestions) => Promise<T>,
): Promise<T> {
  const { origin, href } = new URL(host.base_url)
  const settings = {
    base_url: href.replace(/\/$/, ''),
    site_url: origin,
    upload_form: 'credential',
    timeout: TIMEOUT_MS,
  } as const
  const questions = openHostQuestions({ host: settings }, key, authorityOf(host))
  try {
    return await work(questions)
  } finally {
    await questions.close()
  }
}

function authorityOf({ ca_file }: Draft['config']['host']): string | null {
  if (ca_file === undefined) return null
  const fault = faultOfFile(ca_file)
  if (fault !== null) throw new Problem(EXIT.usage, `--ca-file: ${fault}`)
  return readFileSync(ca_file, 'utf8')
}
