import { groupCommits } from './commits.ts'
import type { Db } from './database.ts'
import { openSpace } from './space.ts'
import { openSummaries } from './summary.ts'
import { openAccount } from './tables/account.ts'
import { openAlbums } from './tables/albums.ts'
import { openAudit } from './tables/audit.ts'
import { openContents } from './tables/contents.ts'
import { openDeleted } from './tables/deleted.ts'
import { openEmptied } from './tables/emptied.ts'
import { openEscrow } from './tables/escrow.ts'
import { openFailures } from './tables/failures.ts'
import { openFiles } from './tables/files.ts'
import { openFolders } from './tables/folders.ts'
import { openHistory } from './tables/history.ts'
import { openImages } from './tables/images.ts'
import { openJournal } from './tables/journal.ts'
import { openMeta } from './tables/meta.ts'
import { openMirrors } from './tables/mirrors.ts'
import { openRefuted } from './tables/refuted.ts'
import { openResend } from './tables/resend.ts'

export type Synced = ReturnType<typeof openSynced>

/**
 * What both sides last agreed on, table by table. Changes go through `commit`, which resolves once they are on the
 * disk; the tables' own calls are synchronous and belong inside it.
 */
export function openSynced(db: Db) {
  return {
    commit: groupCommits(db),
    account: openAccount(db),
    albums: openAlbums(db),
    audit: openAudit(db),
    contents: openContents(db),
    deleted: openDeleted(db),
    emptied: openEmptied(db),
    escrow: openEscrow(db),
    failures: openFailures(db),
    files: openFiles(db),
    folders: openFolders(db),
    history: openHistory(db),
    images: openImages(db),
    journal: openJournal(db),
    meta: openMeta(db),
    mirrors: openMirrors(db),
    refuted: openRefuted(db),
    resend: openResend(db),
    space: openSpace(db),
    summaries: openSummaries(db),
    close: () => void db.close(),
  }
}
