import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { DaemonProcess } from '../e2e/stage/process.ts'
import { png } from '../pictures.ts'
import { type PageStage, setPageStage } from './page-stage.ts'

/** A file name that a careless page would run. */
export const HOSTILE = '<img src=x onerror="document.title=1">&amp;\n.png'

export interface Scene extends PageStage {
  daemon: DaemonProcess
}

/** A mirror with all that a page can show: pictures that are there, one on its way, a failure, held deletions. `mirror`:
 * its settings beside its folder. */
export async function setScene(mirror: object = {}): Promise<Scene> {
  const stage = await setPageStage({
    mirror,
    config: {
      deletions: { grace: '0', hold_above: '1%', hold_min: 0 },
      uploads: { bandwidth: '150KB/s', concurrency: 3 },
    },
  })
  cpSync(join(import.meta.dirname, '../../src/cli/try/pictures'), stage.pictures, { recursive: true })
  const daemon = await stage.run()
  // Before the first scan nothing is pending either.
  await daemon.told('scan_finished')
  const now = async () => (await stage.json('status')).mirrors[0]
  await expect.poll(async () => (await now()).pending_uploads, { interval: 2000 }).toBe(0)
  stage.write('Scans/broken scan.png', 'no picture at all')
  rmSync(join(stage.pictures, 'Icons'), { recursive: true })
  await daemon.told('deletions_held')
  const uploaded = daemon.events().filter(({ event }) => event === 'picture_uploaded').length
  stage.write(`Postcards/${HOSTILE}`, png(40, 30, 90).bytes)
  await daemon.told('picture_uploaded', uploaded + 1)
  // 3 MB of a picture that no line compresses: 20 seconds.
  stage.write('Panoramas/over the bay.png', png(2000, 1500, 77).bytes)
  return { ...stage, daemon }
}
