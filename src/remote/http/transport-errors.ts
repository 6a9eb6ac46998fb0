import { because, type Reason } from '../../words/reasons.ts'
import { CERTIFICATE_ERRORS, CONNECTION_ERRORS } from '../../words/system-errors.ts'

/** Why there is no answer. The words are albumd's own, because errors of Node and undici may contain an address. */
export interface TransportError {
  code: 'HOST_UNREACHABLE' | 'HOST_TLS' | 'HOST_ANSWER'
  message: Reason
}

const NO_HTTP = ['HTTPParserError', 'HeadersOverflowError', 'ResponseContentLengthMismatchError']

/** `where` is host:port. */
export function explainTransportError(error: Error, where: string): TransportError {
  const code = (error as NodeJS.ErrnoException).code ?? ''
  if (code in CONNECTION_ERRORS)
    return { code: 'HOST_UNREACHABLE', message: because('no_connection', { where, code }) }
  if (code in CERTIFICATE_ERRORS)
    return { code: 'HOST_TLS', message: because('bad_certificate', { where, code }) }
  if (/^(ERR_SSL|ERR_TLS|EPROTO|CERT_|CRL_)/.test(code))
    return { code: 'HOST_TLS', message: because('no_secure_connection', { where, code }) }
  // undici leaves the code of its parser's errors undefined.
  if (NO_HTTP.includes(error.name)) return { code: 'HOST_ANSWER', message: because('not_http', { where }) }
  return {
    code: 'HOST_UNREACHABLE',
    message: because('connection_failed', { where, code: code || error.name }),
  }
}
