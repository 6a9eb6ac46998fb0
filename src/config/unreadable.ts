/** What is said of a file or folder that can't be read, by the system's word for why, and what a person can do. */
export function unreadable(code: string | undefined): string {
  if (code === 'ENOENT') return 'is not there'
  if (code === 'EISDIR') return 'is a folder; name the file in it'
  return `can't be read (${code}); ${REMEDIES[code ?? ''] ?? 'see what it is on'}`
}

const PERMIT = 'let the user that albumd runs as read it (chmod, chown or setfacl)'
const NO_FILES = 'too many files are open: raise the limit (ulimit -n; LimitNOFILE= for a service)'

const REMEDIES: Readonly<Record<string, string>> = {
  EACCES: PERMIT,
  EPERM: PERMIT,
  ELOOP: 'links on the way to it lead in a circle: put them right',
  EMFILE: NO_FILES,
  ENFILE: NO_FILES,
  ENAMETOOLONG: 'its path is longer than this system takes: name a shorter one',
  ENOTDIR: 'something on the way to it is no folder: name another path',
}
