import { expect, test } from 'vitest'
import type { Readings } from '../../src/host/decisions.ts'
import { cameraPicture } from '../page/camera-picture.ts'
import type { TestPicture } from '../pictures.ts'
import { type TestHost, testHost } from './test-host.ts'

function hostWith(readings: Partial<Readings>): Promise<TestHost> {
  return testHost({ readings })
}

/** The code of an upload's answer; undefined when it succeeded. */
async function codeOf(host: TestHost, sent: TestPicture, more: Record<string, unknown> = {}) {
  return (await host.upload(sent, more)).json.code
}

test("a JPEG's dimensions are those stored, or those that EXIF turns them to", async () => {
  const stored = { name: 'a.jpg', mime: 'image/jpeg', width: 40, height: 30, bytes: jpeg(40, 30, 6) }
  const turned = { ...stored, width: 30, height: 40 }
  const upright = { ...turned, bytes: jpeg(40, 30, 1) }
  const codes = async (dimensions: Readings['dimensions']) => {
    const host = await hostWith({ dimensions })
    const answered = [
      await codeOf(host, stored),
      await codeOf(host, turned),
      await codeOf(host, upright),
    ].map(code => code ?? 'taken')
    const listed = (await host.list()).images.map(({ width, height }) => [width, height])
    return { answered, listed }
  }
  const no = 'DIMENSION_MISMATCH'
  expect(await codes('stored')).toEqual({ answered: ['taken', no, no], listed: [[40, 30]] })
  expect(await codes('turned')).toEqual({ answered: [no, 'taken', no], listed: [[30, 40]] })
})

/** A JPEG's frame header behind its EXIF, which is all that its dimensions take. */
function jpeg(width: number, height: number, orientation: number): Buffer {
  const frame = Buffer.from('ffd8ffc0000b080000000001011100ffd9', 'hex')
  frame.writeUInt16BE(height, 7)
  frame.writeUInt16BE(width, 9)
  return cameraPicture(frame, orientation, 0)
}

test('two albums in one place bear one name, or may not', async () => {
  const twice = async (albumNames: Readings['albumNames']) => {
    const host = await hostWith({ albumNames })
    const outer = await host.album('A')
    await host.album('A', outer)
    return (await host.call('POST', '/create_album', { name: 'A' })).json.code
  }
  expect([await twice('repeatable'), await twice('unique')]).toEqual([undefined, 'VALIDATION_ERROR'])
})

test('amounts and the codes of failures are as they were told, each code with its status', async () => {
  const host = await hostWith({ depthMax: 1, unknownAlbum: 'FORBIDDEN' })
  const album = await host.album('A')
  const deeper = await host.call('POST', '/create_album', { name: 'B', parent_album: album })
  expect(deeper.json.code).toBe('INVALID_PARAMS')
  const unknown = await host.call('GET', '/list?album_id=none')
  expect([unknown.status, unknown.json.code]).toEqual([403, 'FORBIDDEN'])
})
