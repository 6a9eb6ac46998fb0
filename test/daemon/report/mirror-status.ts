import type { MirrorStatus } from '../../../src/daemon/report/mirror-status.ts'

/** The status of a mirror whose pictures are all on the host. */
export function mirrorInSync(pictures: number): MirrorStatus {
  return {
    folder: '/p',
    album: 'P',
    state: 'idle',
    reason: null,
    doubt: null,
    needs_person: false,
    looked_at: true,
    files: pictures,
    synced: pictures,
    linked: 0,
    uncertain: 0,
    gone_on_host: 0,
    failed_with_image: 0,
    first_gone_on_host: null,
    pending_uploads: 0,
    pending_deletions: 0,
    approved_deletions: 0,
    held_deletions: 0,
    failed: 0,
    folders_in_doubt: 0,
    left_out: { format: 0, ignored: 0, hidden: 0, empty: 0, links: 0 },
    left_out_with_image: 0,
    flat: 0,
    kept: 0,
    waits: [],
    image_waits: [],
    many: null,
    oldest_unsynced: null,
  }
}
