import type { Part } from '../part.ts'
import { PICTURE_SETS } from '../trees/picture-set.ts'
import { dayOfQuota } from './upload/quota.ts'
import { rateUsed } from './upload/rate-used.ts'
import { throughput } from './upload/throughput.ts'

export const upload: Part = {
  name: 'upload',
  about: 'what it takes to send pictures',
  async measure(means) {
    await throughput(means, PICTURE_SETS.many, means.short ? 2 : 3)
    if (!means.short) await throughput(means, PICTURE_SETS.large, 2)
    await dayOfQuota(means, means.short ? 500 : 5000)
    await rateUsed(means, means.short ? 100 : 1000)
  },
}
