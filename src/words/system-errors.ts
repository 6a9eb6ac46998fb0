/** What a person can do when a file or folder can't be read, by the system's error code. */
export function readRemedy(code: unknown): string {
  return REMEDIES[String(code)] ?? 'check its permissions and its disk'
}

const PERMIT = 'let the user that albumd runs as read it (chmod, chown or setfacl)'
const NO_FILES = 'too many files are open: raise the limit (ulimit -n; LimitNOFILE= for a service)'
const AWAY = 'the disk or server that holds it does not answer: check the network, and mount it again'

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: PERMIT,
  EPERM: PERMIT,
  EMFILE: NO_FILES,
  ENFILE: NO_FILES,
  ENAMETOOLONG: 'its path is longer than this system takes: give it, or a folder above it, a shorter name',
  ENOTDIR: 'something on the way to it is no folder: give it another path',
  ELOOP: 'symbolic links on the way to it lead in a circle: correct them',
  EIO: 'its disk fails: check the disk',
  ESTALE: AWAY,
  ENOTCONN: AWAY,
  EHOSTDOWN: AWAY,
  ETIMEDOUT: AWAY,
}

/**
 * Why there was no connection or no answer, by the code of Node or undici. The message puts the address before these words.
 */
export const CONNECTION_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is the host running, and is its address right?',
  ENOTFOUND: 'is a name that does not exist; check the address of the host and the network',
  EAI_AGAIN: 'has a name that could not be looked up; check the network',
  EHOSTUNREACH: 'cannot be reached; check the network',
  ENETUNREACH: 'cannot be reached; check the network',
  EHOSTDOWN: 'cannot be reached; check the network',
  ENETDOWN: 'cannot be reached; check the network',
  ECONNRESET: 'closed the connection before it had answered',
  ECONNABORTED: 'closed the connection before it had answered',
  EPIPE: 'closed the connection before it had answered',
  UND_ERR_SOCKET: 'closed the connection before it had answered',
  ETIMEDOUT: 'did not accept the connection in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not accept the connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of an answer',
}

const UNTRUSTED =
  "is not trusted; if the host has a certificate authority of its own, name the authority's certificate in host.ca_file (albumd init: --ca-file)"

/** What is wrong with a certificate, by Node's code. The message puts "the certificate" before these words. */
export const CERTIFICATE_ERRORS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet; is the clock right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
}
