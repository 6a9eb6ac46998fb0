/** The account's quota, its day and its limits, as far as the host's answers and the config tell. */

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
