declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici'
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'

  const request: Dispatcher['request']
  export default request
}

declare module 'undici/lib/core/connect.js' {
  export { buildConnector as default } from 'undici'
}

declare module 'undici/lib/core/symbols.js' {
  const symbols: { readonly kParser: unique symbol }
  export default symbols
}

declare module 'undici/lib/dispatcher/env-http-proxy-agent.js' {
  import { EnvHttpProxyAgent, type ProxyAgent } from 'undici'
  export default class extends EnvHttpProxyAgent {
    // undici's own types leave out the options that it passes on to its proxies.
    constructor(options: EnvHttpProxyAgent.Options & Omit<ProxyAgent.Options, 'uri'>)
  }
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici'

  const connect: Dispatcher['connect']
  export default connect
}
