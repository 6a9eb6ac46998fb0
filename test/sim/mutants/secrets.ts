import { but, resolving } from './by.ts'
import type { Row } from './mutant.ts'

/** What keeps from people and files what only the upload node may know. */
// biome-ignore format: a mutant is a row.
export const SECRETS: readonly Row[] = [
  [63, 'the journal keeps the address of an upload',
    'whoever reads the records can upload in the name of the account',
    { 'sync/uploads/sender.ts': {
      sendBytes: original => (run, parcel, declaration, credential, signal) =>
        original(run, parcel, declaration, { ...credential, cdnUrl: credential.uploadUrl }, signal),
    } }],
  [1, 'the address of an upload is told for that of its delivery',
    'whoever reads the log can upload in the name of the account',
    { 'sync/uploads/sender.ts': {
      sendBytes: resolving((sent, ...args) => (sent.ok ? but(sent, 'value.cdnUrl', args[3].uploadUrl) : sent)),
    } }],
]
