import { describe, expect, it, onTestFinished } from 'vitest'
import type { Picture } from '../../../src/protocol/picture/picture.ts'
import type { UploadRequest } from '../../../src/protocol/records.ts'
import { hostWith } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { Declaration } from '../../../src/sync/uploads/declaration.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { png } from '../../pictures.ts'
import { failure, imagesOn, openWorkshop, summary } from '../workshop.ts'

const PNG: Picture = { format: 'png', mime: 'image/png', width: 40, height: 30 }
const TIFF: Picture = { format: 'tiff', mime: 'image/tiff', width: 40, height: 30 }
const TURNED: Picture = { format: 'jpeg', mime: 'image/jpeg', width: 40, height: 30, turned: true }

type Declared = ReturnType<Declaration['fields']>
/** What the host answers to a declaration: a code of its refusal, or null when it takes the picture. */
type Host = (declared: Declared) => string | null

const refusing =
  (type: string, code = 'VALIDATION_ERROR'): Host =>
  ({ mime_type }) =>
    mime_type === type ? code : null

function account() {
  const synced = openSynced(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  const clock = { wall: () => 0 } as EngineContext['clock']
  const context = { synced, clock, dimensions: 'learn', uploadForm: 'credential' } as const
  return {
    synced,
    declare: (name: string, picture = PNG) => new Declaration(context, picture, name),
    /** What was declared, try after try. The last was taken, unless the host refused all. */
    upload(name: string, host: Host, picture = PNG, refusal: Partial<typeof REFUSAL> = {}): Declared[] {
      const declaration = new Declaration(context, picture, name)
      const tries: Declared[] = []
      for (;;) {
        tries.push(declaration.fields())
        const code = host(tries.at(-1)!)
        if (code === null) break
        const { remedy, status, endpoint } = { ...REFUSAL, ...refusal }
        if (!declaration.refused(failure(remedy, code, endpoint, { status }).failure)) return tries
      }
      synced.commitNow(tx => declaration.acknowledged(tx, 0))
      return tries
    },
    learned: () => synced.meta.get('declared_type'),
  }
}

const REFUSAL = { remedy: 'change_request', status: 400, endpoint: 'upload' } as {
  remedy: Parameters<typeof failure>[0]
  status: number
  endpoint: Parameters<typeof failure>[2]
}

const typesOf = (tries: Declared[]) => tries.map(({ mime_type }) => mime_type)

describe('the type of a picture whose name stands for another', () => {
  it('is that of its bytes, until the host refuses it and takes that of the name', () => {
    const { upload, learned } = account()
    expect(typesOf(upload('x.png', () => null))).toEqual(['image/png'])
    expect(learned()).toBeNull()
    expect(typesOf(upload('x.jpg', refusing('image/png')))).toEqual(['image/png', 'image/jpeg'])
    expect(learned()).toBe('name')
    expect(typesOf(upload('x.GIF', () => null))).toEqual(['image/gif'])
    expect(typesOf(upload('x.png', () => null))).toEqual(['image/png'])
  })

  it('is learned anew from a host that has changed its mind', () => {
    const { upload, learned } = account()
    upload('x.jpg', refusing('image/png'))
    expect(typesOf(upload('x.jpg', refusing('image/jpeg')))).toEqual(['image/jpeg', 'image/png'])
    expect(learned()).toBe('bytes')
  })

  it('is found out by one picture at a time, as long as it is not known', () => {
    const { upload, declare } = account()
    expect([declare('x.jpg').decides(), declare('x.png').decides()]).toEqual(['declared type', null])
    upload('x.jpg', () => null)
    expect(declare('x.jpg').decides()).toBeNull()
  })

  it('is not what a host refuses that takes neither, and nothing is learned', () => {
    const { upload, learned } = account()
    expect(typesOf(upload('x.jpg', () => 'VALIDATION_ERROR'))).toEqual(['image/png', 'image/jpeg'])
    expect(learned()).toBeNull()
  })

  it.each([
    ['which the host said of the file', 'FILE_TOO_LARGE', { remedy: 'change_picture' }],
    ['that comes from no host', 'HOST_REDIRECT', { status: 302 }],
    ['of the upload node', 'VALIDATION_ERROR', { remedy: 'refused_by_node', endpoint: 'send' }],
    ['of the account', 'DAILY_LIMIT_REACHED', { remedy: 'quota', status: 429 }],
  ] as const)('is not tried otherwise after a refusal %s', (_, code, refusal) => {
    expect(typesOf(account().upload('x.jpg', () => code, PNG, refusal))).toEqual(['image/png'])
  })

  it('decides whether dimensions are left out, which says nothing of pictures with fitting names', () => {
    const { upload, synced } = account()
    expect(upload('x.png', refusing('image/tiff'), TIFF)).toEqual([
      { mime_type: 'image/tiff' },
      { mime_type: 'image/png', width: 40, height: 30 },
    ])
    const turning: Host = ({ width }) => (width === 40 ? 'DIMENSION_MISMATCH' : null)
    const { length } = upload('x.png', turning, TURNED, { remedy: 'other_dimensions' })
    expect(length).toBe(2)
    expect(Object.keys(synced.meta.get('dimensions')!)).toEqual(['image/png (image/jpeg)'])
  })
})

it.each(['VALIDATION_ERROR', 'FORBIDDEN', 'NOT_FOUND', 'INVALID_PARAMS'] as const)(
  'a host that wants fitting names refuses one of 18 pictures with %s, and the names stay',
  async badExtension => {
    const workshop = await openWorkshop({}, { readings: { fileName: 'matching', badExtension } })
    const asked: UploadRequest[] = []
    const host = hostWith(workshop.host, {
      requestUpload(request, signal) {
        asked.push(request)
        return workshop.host.requestUpload(request, signal)
      },
    })
    const names = Array.from({ length: 18 }, (_, n) => `${n}.${n % 2 ? 'jpg' : 'gif'}`)
    for (const [n, name] of names.entries()) workshop.write(name, png(3 + n, 2).bytes)
    await workshop.pass({ host, concurrency: 8 })
    expect(summary(workshop)).toMatchObject({ synced: 18, failed: 0 })
    expect(asked.filter(({ mime_type }) => mime_type === 'image/png').length).toBeLessThanOrEqual(2)
    expect(await imagesOn(workshop)).toEqual(names.toSorted())
    asked.length = 0
    workshop.write('new.jpg', png(30, 20).bytes)
    await workshop.pass({ host })
    expect(asked.map(({ mime_type }) => mime_type)).toEqual(['image/jpeg'])
  },
)
