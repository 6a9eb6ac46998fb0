import { writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { orNull } from '../daemon/or-null.ts'
import { makeThumbnail } from './thumbnail-maker.ts'
import type { Original } from './thumbnails.ts'

/** The process that makes thumbnails. It can be ended alone when a decoder fails or takes all memory. */
setPriority(10)
orNull(() => writeFileSync('/proc/self/oom_score_adj', '1000'))
process.on('message', (original: Original) => {
  makeThumbnail(original).then(
    bytes => process.send!(bytes),
    () => process.send!(null),
  )
})
