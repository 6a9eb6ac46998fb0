import { answerTasks } from '../daemon/worker-process.ts'
import { makeThumbnail } from './thumbnail-maker.ts'
import type { Original } from './thumbnails.ts'

/** The process that makes thumbnails. */
answerTasks((original: Original) => makeThumbnail(original).catch(() => null))
