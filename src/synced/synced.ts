import { openAccount } from './account.ts'
import { openAlbums } from './albums.ts'
import { openAudit } from './audit.ts'
import { groupCommits } from './commits.ts'
import { openContents } from './contents.ts'
import type { Db } from './database.ts'
import { openDeleted } from './deleted.ts'
import { openEmptied } from './emptied.ts'
import { openEscrow } from './escrow.ts'
import { openFailures } from './failures.ts'
import { openFiles } from './files.ts'
import { openFolders } from './folders.ts'
import { openHistory } from './history.ts'
import { openImages } from './images.ts'
import { openJournal } from './journal.ts'
import { openMeta } from './meta.ts'
import { openMirrors } from './mirrors.ts'
import { openRefuted } from './refuted.ts'
import { openResend } from './resend.ts'
import { openSpace } from './space.ts'
import { openSummaries } from './summary.ts'

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
