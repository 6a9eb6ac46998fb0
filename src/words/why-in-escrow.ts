import { because, type Reason } from './reasons.ts'

/** Why an image is in escrow, by the reason in its escrow entry. */
export const WHY_IN_ESCROW = {
  deleted: because('gone'),
  superseded: because('an_older_version'),
  ignored: because('hidden_by_rule'),
} satisfies Record<string, Reason>
