/** The account's quota, its day and its limits, as host and config tell them. */

export { RETRY_MS, reviewAccount, triedAgainAt } from './limits.ts'
export { QuotaLedger } from './quota-ledger.ts'
export {
  type Allowance,
  isUsedUpEarly,
  type OtherMachines,
  onlyReserveLeft,
  rateOf,
  readQuota,
} from './quota-state.ts'
