import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { endedInSync, setFaultStage } from '../stage/fault-stage.ts'
import { daemonHere } from '../stage/process.ts'
import { sha256 } from '../stage/stage.ts'

const red = png(3, 2, 10).bytes
const green = png(3, 2, 20).bytes
const blue = png(2, 3, 30).bytes

/** A daemon whose upload of `a/slow.png` does not get on before `release` is called. */
async function startSlow() {
  const stage = await setFaultStage()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: underWay, resolve: begins } = Promise.withResolvers<void>()
  let isHeld = false
  stage.proxy.onSeen = ({ kind }) => {
    if (kind !== 'send' || isHeld) return
    isHeld = true
    begins()
    return released
  }
  stage.write('a/slow.png', red)
  const daemon = await daemonHere(stage)
  await underWay
  return { stage, daemon, release }
}

it('new pictures are sent while one upload does not get on, and then what became of its picture', async () => {
  const { stage, daemon, release } = await startSlow()
  stage.write('a/new.png', green)
  await daemon.told('picture_uploaded')
  stage.write('new.png', blue)
  await daemon.told('picture_uploaded', 2)
  stage.write('a/slow.png', blue)
  stage.write('b/new.png', red)
  await daemon.told('picture_uploaded', 3)
  expect(await stage.delivered()).toEqual({
    'Photos/a/new.png': sha256(green),
    'Photos/new.png': sha256(blue),
    'Photos/b/new.png': sha256(red),
  })
  release()
  await expect.poll(() => daemon.paths('picture_uploaded').slice(3)).toEqual(['a/slow.png', 'a/slow.png'])
  await daemon.told('image_deleted')
  await endedInSync(daemon, stage)
})

it('the image of a picture that was deleted while it was sent is deleted', async () => {
  const { stage, daemon, release } = await startSlow()
  rmSync(join(stage.pictures, 'a'), { recursive: true })
  stage.write('new.png', green)
  await daemon.told('picture_uploaded')
  release()
  await daemon.told('image_deleted')
  expect(daemon.paths('picture_uploaded')).toEqual(['new.png', 'a/slow.png'])
  expect(await stage.delivered()).toEqual({ 'Photos/new.png': sha256(green) })
})
