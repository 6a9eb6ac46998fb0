import { describe, expect, it } from 'vitest'
import { type Answer, MTIME, recordPictures, treeOf } from '../recorded-pictures.ts'
import { restore } from './restored.ts'

describe('a restore', () => {
  it('writes no picture whose bytes differ from the record, and says why for each', async () => {
    const endless = Buffer.alloc(3 * 2 ** 20)
    const answering = (status: number, headers = {}): Answer => {
      return response => void response.writeHead(status, headers).end('a long page of it')
    }
    let flaky = 0
    const recorded = await recordPictures([
      { path: 'good.png', bytes: 'good' },
      { path: 'short.png', bytes: 'recorded', answer: response => void response.end('record') },
      { path: 'other.png', bytes: 'recorded', answer: response => void response.end('RECORDED') },
      { path: 'endless.png', bytes: 'recorded', answer: response => void response.end(endless) },
      { path: '404.png', bytes: 'x', answer: answering(404) },
      { path: 'moved.png', bytes: 'x', answer: answering(302, { location: '#again' }) },
      { path: 'forbidden.png', bytes: 'x', answer: answering(403) },
      { path: 'plain.png', bytes: 'x', image: { cdnUrl: 'http://images.example.com/i/1' } },
      {
        path: 'flaky.png',
        bytes: 'there at last',
        answer: (response, bytes) => {
          if (flaky++ === 0) response.writeHead(503).end()
          else if (flaky === 2)
            response
              .writeHead(200, { 'content-length': bytes.length })
              .write('the', () => void response.destroy())
          else response.end(bytes)
        },
      },
    ])
    const { report, missing, back } = await restore(recorded)
    expect(missing).toEqual({
      'short.png': 'OTHER_BYTES',
      'other.png': 'OTHER_BYTES',
      'endless.png': 'OTHER_BYTES',
      '404.png': 'NOT_FOUND',
      'moved.png': 'HOST_REDIRECT',
      'forbidden.png': 'HOST_ANSWER',
      'plain.png': 'HOST_ADDRESS',
    })
    expect(report).toMatchObject({ restored: 2, missing: 7 })
    expect(Object.keys(treeOf(back)).sort()).toEqual([
      '.albumd-restore/restore.json',
      'flaky.png',
      'good.png',
    ])

    // Some addresses answer well now. Pictures that are there already are not fetched again.
    recorded.asked.length = 0
    for (const path of ['short.png', 'other.png', 'endless.png', '404.png']) recorded.answers.delete(path)
    const again = await restore(recorded)
    expect(again.report).toMatchObject({ restored: 4, there: 2, missing: 3 })
    expect(recorded.asked).not.toContain('good.png')
    expect(treeOf(back)['other.png']).toEqual(['recorded', MTIME])
  })

  it('asks caches to fetch a picture again, and never sends the key', async () => {
    const headers: (string | undefined)[] = []
    const recorded = await recordPictures([
      {
        path: 'cached.png',
        bytes: 'fresh',
        answer: (response, bytes, request) => {
          expect(request.headers['x-api-key']).toBeUndefined()
          headers.push(request.headers['cache-control'])
          response.end(headers.length === 1 ? 'stale' : bytes)
        },
      },
    ])
    expect((await restore(recorded)).report).toMatchObject({ restored: 1, missing: 0 })
    expect(headers).toEqual([undefined, 'no-cache'])
  })
})
