import { homedir } from 'node:os'
import { basename, resolve } from 'node:path'
import { checkFolders } from '../../config/folders.ts'
import { mayBeKey, readApiKey, readAuthorities } from '../../config/host-access.ts'
import { defaultStateDir } from '../../config/paths.ts'
import { askingOnce, checkEndpoints, LONGEST_MS } from '../../daemon/doctor/endpoints.ts'
import type { Finding } from '../../daemon/doctor/finding.ts'
import { checkReach } from '../../daemon/doctor/host.ts'
import { openHostToAsk } from '../../daemon/engine/remote.ts'
import { VERSION_PATH } from '../../protocol/endpoints.ts'
import { CREDENTIAL_LIFETIME_MS, REQUESTS_PER_SECOND } from '../../protocol/limits.ts'
import { albumNameOf } from '../../sync/album.ts'
import { EXIT, Problem } from '../problem.ts'
import { sayWarning } from '../read-config.ts'
import type { Asker } from '../terminal/asker.ts'
import { type Draft, faultIn, faultOf } from './draft.ts'

export interface Given {
  'base-url': string | undefined
  'ca-file': string | undefined
  'api-key-file': string | undefined
  folder: string[]
  album: string[]
  deletions: string | undefined
  strip: string | undefined
  check: boolean
}

type Host = Draft['host']

const { signal: NEVER } = new AbortController()

/** Asks for the host's address and, when TLS fails, for a certificate authority. Checks both with the host. */
export async function agreeOnHost(asker: Asker, given: Given, draft: Draft): Promise<void> {
  const { host } = draft
  const { 'base-url': address, 'ca-file': authority, check } = given
  if (authority !== undefined) host.ca_file = absolute(authority)
  const canAsk = asker.person && address === undefined
  const look = () => (check ? faultOfHost(host) : null)
  for (;;) {
    // When the address is asked for again, an empty line keeps it, because something else may have been wrong.
    const before = host.base_url || undefined
    const answer = await asker.ask({
      option: 'base-url',
      given: address,
      words: `The image host's interface${before ? '' : ', such as https://images.example.com/api/v1'}`,
      fallback: before,
      check: url => faultIn({ ...draft, host: { ...host, base_url: ofInterface(url) } }, 'host.base_url'),
    })
    host.base_url = ofInterface(answer)
    let fault = await look()
    if (canAsk && fault?.check === 'tls' && authority === undefined) {
      // The question that follows says what to do.
      asker.tell(fault.message.replace(/\. .*/s, ''))
      await askForAuthority(asker, host)
      fault = await look()
    }
    if (fault === null) return
    // Every other fault stays until a person mends it, and its words say how.
    const remedy =
      fault.code === 'HOST_UNREACHABLE' ? '. Correct the address, or say --no-check, which asks no host' : ''
    if (!canAsk) throw new Problem(`${fault.message}${remedy}`, EXIT.left)
    asker.tell(fault.message)
  }
}

/** The address of a host alone is completed. */
function ofInterface(address: string): string {
  return URL.parse(address)?.pathname === '/' ? new URL(VERSION_PATH, address).href : address
}

async function askForAuthority(asker: Asker, host: Host): Promise<void> {
  const file = await asker.ask({
    option: 'ca-file',
    words: "The certificate of the host's own authority (PEM file), or none",
    fallback: 'none',
    check: file =>
      file === 'none' ? null : faultOf(() => readAuthorities({ host: { ca_file: absolute(file) } })),
  })
  if (file === 'none') delete host.ca_file
  else host.ca_file = absolute(file)
}

async function faultOfHost(host: Host): Promise<Finding | null> {
  const found = await checkReach(host.base_url, readAuthorities({ host }), LONGEST_MS, NEVER)
  return found.find(({ check, status }) => check !== 'clock' && status === 'fail') ?? null
}

/** Asks for the key and tries it on the host. Null when a file holds the key already. Throws Problem and ConfigError. */
export async function agreeOnKey(asker: Asker, given: Given, { host }: Draft): Promise<string | null> {
  const file = given['api-key-file'] && absolute(given['api-key-file'])
  const check = (key: string) => (given.check ? whyKeyRefused(asker, host, key) : null)
  const { ALBUMD_API_KEY } = process.env
  if (!file && !ALBUMD_API_KEY)
    return asker.ask({
      option: 'api-key-file',
      words: 'The API key (not shown)',
      secret: true,
      check: key => (mayBeKey(key) ? check(key) : 'holds characters that no API key has'),
    })
  // The key is read as it will be read later: without the end of its line, and refused when it fits no header.
  const { key, warning } = file
    ? readApiKey({ host: { api_key_file: file } }, {})
    : readApiKey({ host: {} }, { ALBUMD_API_KEY })
  const refusal = await check(key)
  const source = file ? '--api-key-file' : '$ALBUMD_API_KEY'
  if (refusal !== null) throw new Problem(`${refusal}. Put the right key into ${source}`, EXIT.refused)
  sayWarning(warning)
  if (!file) return key
  host.api_key_file = file
  return null
}

/** Why the host refuses the key, or null. Endpoints that the plan excludes are told, but do not count as a refusal. */
async function whyKeyRefused(asker: Asker, host: Host, key: string): Promise<string | null> {
  const { origin, href } = new URL(host.base_url)
  const settings = {
    base_url: href.replace(/\/$/, ''),
    site_url: origin,
    upload_form: 'credential',
    timeout: LONGEST_MS,
    credential_lifetime: CREDENTIAL_LIFETIME_MS,
    requests_per_second: REQUESTS_PER_SECOND,
  } as const
  // The new config names no store.
  const access = { apiKey: key, ca: readAuthorities({ host }), store: null }
  const config = { host: settings, account: { when_away: 1 } }
  const asked = await openHostToAsk(config, access, null, askingOnce(LONGEST_MS))
  const findings: Finding[] = []
  try {
    for await (const finding of checkEndpoints(asked, NEVER)) findings.push(finding)
  } finally {
    await asked.close()
  }
  const refused = findings.find(({ check, status }) => check === 'key' && status === 'fail')
  if (refused) return refused.message
  for (const { status, message, remedy } of findings)
    if (status !== 'pass') asker.tell(`${message}${remedy ? `: ${remedy}` : ''}`)
  return null
}

export async function agreeOnMirrors(
  asker: Asker,
  { folder: folders, album: albums, deletions }: Given,
  draft: Draft,
): Promise<void> {
  const { mirrors } = draft
  do {
    const at = mirrors.length
    const faultAt = (mirror: Draft['mirrors'][number], key: 'folder' | 'album') =>
      faultIn({ ...draft, mirrors: [...mirrors, mirror] }, `mirrors[${at}].${key}`)
    const answer = await asker.ask({
      option: 'folder',
      words: at > 0 ? 'Another folder' : 'The folder of your pictures',
      given: folders[at],
      fallback: at > 0 ? NO_MORE : undefined,
      check: text => {
        if (at > 0 && text === NO_MORE) return null
        const mirror = { folder: absolute(text), album: `${at}` }
        return faultAt(mirror, 'folder') ?? faultOnDisk(draft, mirror)
      },
    })
    if (at > 0 && answer === NO_MORE) break
    const folder = absolute(answer)
    const album = await asker.ask({
      option: 'album',
      words: 'Its album on the host, such as Photos or Photos/2026',
      given: albums[at],
      fallback: albumNameOf(basename(folder)),
      check: album => faultAt({ folder, album }, 'album'),
    })
    mirrors.push({ folder, album })
  } while (mirrors.length < folders.length || (asker.person && folders.length === 0))
  const isWord = (word: string) => word === 'propagate' || word === 'keep'
  const answer = await asker.ask({
    option: 'deletions',
    words:
      'How long do old images stay when many pictures are deleted or changed at once (such as 7d; keep: all images stay for good)',
    given: deletions,
    fallback: DEFAULT_MANY,
    check: word =>
      isWord(word) ? null : faultIn({ ...draft, deletions: { grace_many: word } }, 'deletions.grace_many'),
  })
  for (const mirror of mirrors) mirror.deletions = answer === 'keep' ? 'keep' : 'propagate'
  if (!isWord(answer)) draft.deletions = { grace_many: answer }
  asker.tell(
    answer === 'keep'
      ? 'No image is ever deleted, whatever becomes of its picture.'
      : `The images of few pictures go after 10 minutes, of many after ${isWord(answer) ? DEFAULT_MANY : answer} (you are told), and of very many only when you approve it.`,
  )
}

/** Asks which metadata are sent. */
export async function agreeOnMetadata(asker: Asker, { strip: given }: Given, draft: Draft): Promise<void> {
  const strip = await asker.ask({
    option: 'strip',
    words: 'Metadata to take out, as addresses are public (none, location or all)',
    given,
    fallback: 'none',
    check: strip => faultIn({ ...draft, uploads: { strip } }, 'uploads.strip'),
  })
  draft.uploads = { strip }
}

const DEFAULT_MANY = '1d'

const NO_MORE = 'no more'

function faultOnDisk({ file, mirrors }: Draft, mirror: Draft['mirrors'][number]): string | null {
  const state_dir = defaultStateDir({ file, env: process.env }) ?? resolve('/')
  const all = [...mirrors, mirror].map(each => ({ ...each, deletions: 'propagate' as const, ignore: [] }))
  const problems = checkFolders({ mirrors: all, state_dir })
  const { code, message } = problems.find(({ folder }) => folder === mirror.folder) ?? {}
  return code === 'FOLDER_MISSING' ? `${mirror.folder} is not there, or no folder` : (message ?? null)
}

function absolute(path: string): string {
  return resolve(path === '~' || path.startsWith('~/') ? `${homedir()}${path.slice(1)}` : path)
}
