/** Why there is no answer. The message is albumd's own, because errors of Node and undici may contain an address. */
export interface TransportError {
  code: 'HOST_UNREACHABLE' | 'HOST_TLS' | 'HOST_ANSWER'
  message: string
}

const UNREACHABLE: Readonly<Record<string, string>> = {
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

const CERTIFICATES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet; is the clock right?',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
}

const NO_HTTP = ['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']

/** `where` is host:port. */
export function explainTransportError(error: Error, where: string): TransportError {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  const unreachable = UNREACHABLE[code]
  if (unreachable) return { code: 'HOST_UNREACHABLE', message: `${where} ${unreachable}` }
  const certificate = CERTIFICATES[code]
  if (certificate) return { code: 'HOST_TLS', message: `the certificate of ${where} ${certificate}` }
  if (/^(ERR_SSL|ERR_TLS|EPROTO|CERT_|CRL_)/.test(code))
    return {
      code: 'HOST_TLS',
      message: `no secure connection to ${where} is possible (${code}); does it speak HTTPS?`,
    }
  // undici leaves the code of its parser's errors undefined.
  if (NO_HTTP.includes(error.name))
    return { code: 'HOST_ANSWER', message: `${where} answered with something that is not HTTP` }
  return { code: 'HOST_UNREACHABLE', message: `the connection to ${where} failed (${code || error.name})` }
}
