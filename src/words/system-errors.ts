export function readRemedy(code: unknown): string {
  return REMEDIES[String(code)] ?? 'Check its permissions and its disk'
}

const PERMIT = 'Let the user that albumd runs as read it (chmod or setfacl)'
const NO_FILES = 'Raise the limit of open files: ulimit -n, or LimitNOFILE= of a service'
const AWAY = 'Check the network, and mount its disk or server again'

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: PERMIT,
  EPERM: PERMIT,
  EMFILE: NO_FILES,
  ENFILE: NO_FILES,
  ENAMETOOLONG: 'Give it, or a folder above it, a shorter name',
  ENOTDIR: 'Something on the way to it is no folder, so give it another path',
  ELOOP: 'Correct the symbolic links on the way to it, which lead in a circle',
  EIO: 'Check the disk, which fails',
  EFBIG: 'Make it shorter',
  EINVAL: 'Put a plain file in its place, or remove it',
  EILSEQ: 'Save it as UTF-8',
  ESTALE: AWAY,
  ENOTCONN: AWAY,
  EHOSTDOWN: AWAY,
  ETIMEDOUT: AWAY,
}

/** Why there was no connection or no answer, by the code of Node or undici. Stands in brackets. */
export const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such name',
  EAI_AGAIN: 'name could not be looked up',
  EHOSTUNREACH: 'no route',
  ENETUNREACH: 'no network',
  EHOSTDOWN: 'host is down',
  ENETDOWN: 'network is down',
  ECONNRESET: 'connection closed',
  ECONNABORTED: 'connection closed',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ETIMEDOUT: 'timed out',
  ERR_INVALID_URL: 'HTTPS_PROXY is no address',
  UND_ERR_ABORTED: 'the proxy lets nobody through',
  UND_ERR_PRX_CONN: 'the proxy ended the connection',
  UND_ERR_CONNECT_TIMEOUT: 'timed out',
  UND_ERR_HEADERS_TIMEOUT: 'no answer in time',
  UND_ERR_BODY_TIMEOUT: 'answer broke off',
}

const UNTRUSTED =
  "is not trusted. Name the certificate of the host's own authority in host.ca_file or in --ca-file of albumd init"

const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired. Whoever runs the host must renew it',
  CERT_NOT_YET_VALID: 'is not valid yet. Check the clock',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name. Check host.base_url',
}

/** Node's codes for a refused certificate. CERT_SIGNATURE_FAILURE comes from another authority of the same name. */
const OF_CERTIFICATE = /^(?:CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_|INVALID_|PATH_LENGTH|ERROR_IN_C)/

export function certificateFault(code: string): string | null {
  return CERTIFICATE_FAULTS[code] ?? (OF_CERTIFICATE.test(code) ? UNTRUSTED : null)
}

export function isUntrusted(code: string): boolean {
  return certificateFault(code) === UNTRUSTED
}

export function isOfTls(code: string): boolean {
  return certificateFault(code) !== null || /^(?:ERR_SSL|ERR_TLS|EPROTO)/.test(code)
}
