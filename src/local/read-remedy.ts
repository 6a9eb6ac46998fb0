/** What a person can do where a file or folder can't be read, by the system's word for why. */
export function readRemedy(code: unknown): string {
  return REMEDIES[String(code)] ?? 'check its permissions and its disk'
}

const NO_FILES = 'too many files are open: raise the limit (ulimit -n; LimitNOFILE= for a service)'
const AWAY = 'what it is on does not answer: see the network and mount it again'

const REMEDIES: Readonly<Record<string, string>> = {
  EMFILE: NO_FILES,
  ENFILE: NO_FILES,
  ENAMETOOLONG: 'its path is longer than this system takes: give it, or a folder above it, a shorter name',
  ELOOP: 'links on the way to it lead in a circle: put them right',
  EIO: 'its disk fails: look at its health',
  ESTALE: AWAY,
  ENOTCONN: AWAY,
  EHOSTDOWN: AWAY,
  ETIMEDOUT: AWAY,
}
