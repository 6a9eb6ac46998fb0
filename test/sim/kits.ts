import { openHostKit } from './host-kit.ts'
import { openStateKit } from './state-kit.ts'
import type { Kits } from './world.ts'

export function openKits(): Kits {
  return { host: openHostKit(), state: openStateKit() }
}
