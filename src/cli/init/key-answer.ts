import { resolve } from 'node:path'
import { readApiKey } from '../../config/host-access.ts'
import type { Finding } from '../../daemon/doctor/finding.ts'
import { EXIT } from '../exit-codes.ts'
import { Problem } from '../words/problem.ts'
import { printable } from '../words/wording.ts'
import type { Asker } from './asker.ts'
import type { Draft } from './draft.ts'
import { askWithKey } from './host-answers.ts'

export interface KeyOptions {
  'api-key-file': string | undefined
  check: boolean
}

/** The key, tried on the host; null where it stays in the file that holds it already. Throws Problem and ConfigError. */
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

/** As albumd reads it later: without a line's end, and refused where no header takes it. */
function keyOfEnvironment(): string | null {
  const { ALBUMD_API_KEY } = process.env
  return ALBUMD_API_KEY ? readApiKey({ host: {} }, { ALBUMD_API_KEY }).key : null
}

/** What the host says against the key, or null. What the plan lacks is told, and is no reason to stop. */
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
