import type { Mutant } from './mutant.ts'

/** What keeps from people and files what only the upload node may know. */
export const SECRETS: readonly Mutant[] = [
  {
    name: 'the journal keeps the address of an upload',
    file: 'sync/uploads/sender.ts',
    find: 'cdn_url: credential.cdnUrl,',
    replace: 'cdn_url: credential.uploadUrl,',
    why: 'whoever reads the records can upload in the name of the account',
    seed: 63,
  },
  {
    name: 'the address of an upload is told for that of its delivery',
    file: 'sync/uploads/sender.ts',
    find: 'return sendBytes(run, { ...parcel, album }, declaration, credential, signal)',
    replace:
      'return sendBytes(run, { ...parcel, album }, declaration, credential, signal).then(sent => (sent.ok ? { ...sent, value: { ...sent.value, cdnUrl: credential.uploadUrl } } : sent))',
    why: 'whoever reads the log can upload in the name of the account',
    seed: 1,
  },
]
