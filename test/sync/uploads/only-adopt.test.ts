import { expect, it } from 'vitest'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { putImage } from '../album-stage.ts'
import { failure, green, openWorkshop, red, summary, type Workshop } from '../workshop.ts'

it('asks the host anew: one that is away is not told as one that does not have it', async () => {
  const workshop = await mirrored()
  const list: ImageHost['list'] = async () => failure('later', 'HOST_UNREACHABLE', 'list')
  const { stopped } = await workshop.pass({ host: hostWith(workshop.host, { list }) }, 'adopt')
  expect(stopped).toMatchObject([{ code: 'HOST_UNREACHABLE' }])
  expect(whyWaits(workshop)).toEqual([])
})

it('finds what others put there since albumd looked', async () => {
  const workshop = await mirrored()
  const album = workshop.synced.albums.named(null, 'Photos')!.remote_id
  await putImage(workshop.host, album, 'green.png', png(3, 2, 20))
  await workshop.pass({}, 'adopt')
  expect(summary(workshop)).toMatchObject({ pending_uploads: 0 })
})

it('tells what is not there, and what a plan without a list leaves untold', async () => {
  const workshop = await mirrored()
  await workshop.pass({}, 'adopt')
  const refusal = failure('plan', 'PLAN_NOT_SUPPORTED', 'list')
  const host = hostWith(workshop.host, {
    list: async () => refusal,
    blocks: () => [{ ...refusal.failure, since: 0 }],
  })
  await workshop.pass({ host }, 'adopt')
  expect(whyWaits(workshop)).toEqual([
    'it is not on the host',
    'the host could not be asked whether it is there: the host said PLAN_NOT_SUPPORTED',
  ])
})

/** One picture is on the host, another came since. */
async function mirrored(): Promise<Workshop> {
  const workshop = await openWorkshop()
  workshop.write('red.png', red)
  await workshop.pass()
  workshop.write('green.png', green)
  return workshop
}

const whyWaits = ({ events }: Workshop) =>
  events.flatMap(told => (told.event === 'picture_waits' ? [inWords(told.message)] : []))
