import { expect, it } from 'vitest'
import { LeftOut } from '../../bench/machine/left-out.ts'

it('what is left out is said once, by the tool that is missing and the part that wanted it', () => {
  const leftOut = new LeftOut(new Map([['find', '4.9']]))
  expect(leftOut.has('find', 'scan', 'find')).toBe(true)
  for (const what of ['rclone lsf', 'rclone sync', 'rclone lsf'])
    expect(leftOut.has('rclone', 'scan', what)).toBe(false)
  leftOut.has('rclone', 'upload', 'rclone copy to S3')
  leftOut.has('cc', 'durability', 'all of it')
  expect(leftOut.lines()).toEqual([
    'left out: rclone is missing (Debian: apt-get install rclone): scan (rclone lsf, rclone sync), upload (rclone copy to S3)',
    'left out: cc is missing (Debian: apt-get install gcc libc6-dev): durability (all of it)',
  ])
})
