import { but } from './by.ts'
import type { Mutant } from './mutant.ts'

/** What keeps from people and files what only the upload node may know. */
export const SECRETS: readonly Mutant[] = [
  {
    name: 'the journal keeps the address of an upload',
    why: 'whoever reads the records can upload in the name of the account',
    seed: 63,
    instead: {
      'sync/uploads/sender.ts': {
        sendBytes: original => (run, parcel, declaration, credential, signal) =>
          original(run, parcel, declaration, { ...credential, cdnUrl: credential.uploadUrl }, signal),
      },
    },
  },
  {
    name: 'the address of an upload is told for that of its delivery',
    why: 'whoever reads the log can upload in the name of the account',
    seed: 1,
    instead: {
      'sync/uploads/sender.ts': {
        sendBytes:
          original =>
          async (...args) => {
            const sent = await original(...args)
            return sent.ok ? but(sent, 'value.cdnUrl', args[3].uploadUrl) : sent
          },
      },
    },
  },
]
