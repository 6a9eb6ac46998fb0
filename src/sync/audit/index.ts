/** Compares what is recorded with what the host holds, and repairs what differs. */

export { runAudit } from './audit.ts'
export { deleteTwice, isOurs, type Repairs, repairGone } from './audit-repair.ts'
