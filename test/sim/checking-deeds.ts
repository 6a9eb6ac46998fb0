import type { Deed } from './history.ts'
import type { World } from './world.ts'

/** What people do who want to know how the host stands, and to mend it; and what a host does that gives them reason to. */
export const CHECKING_DEEDS: Partial<Record<Deed, (world: World, a: number, b: number) => string>> = {
  audit(world, a) {
    world.auditing.ask(false, a % 2 === 0)
    return 'a person wants an audit'
  },
  auditRepair(world, a) {
    world.auditing.ask(true, a % 2 === 0)
    return 'a person wants an audit that mends'
  },
  keepDeleted(world, a) {
    world.host.keepsDeleted += 1 + (a % 3)
    return `the host keeps the next ${world.host.keepsDeleted} images that albumd deletes`
  },
  resend(world, a) {
    world.resending.want(a)
    return 'a person wants what is in doubt sent again'
  },
}
