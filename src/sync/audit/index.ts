/** Compares what is recorded with what the host holds, and repairs what differs. */

export { type AuditContext, runAudit, unsureFor } from './audit.ts'
export { deleteTwice, isOurs, type Repairs, repairGone } from './audit-repair.ts'
