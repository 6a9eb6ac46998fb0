import type { Endpoint } from '../../src/protocol/endpoints.ts'

/** What goes through: the endpoints of §4, and the delivery of images. */
export type Kind = Endpoint | 'deliver'

export const FAULTS = [
  /** Reset, and for a while every new connection is refused. */
  'refuse',
  /** Reset before anything of it is passed on. */
  'reset',
  /** Half of the body is passed on, then both sides are reset. */
  'half_body',
  /** Served, and reset before the answer. */
  'drop_answer',
  /** Served, and the answer ends in its middle. */
  'truncate_answer',
  /** Served, and answered with a page of the proxy's own. */
  'html_502',
  /** Served, and answered when nobody waits any more. */
  'delay',
  /** Reset when the whole of it has come, and passed on a while later: a proxy that commits after the socket died. */
  'late',
] as const

/** The last is for deliveries alone: 404 from a cache, whatever the host has. */
export type Fault = (typeof FAULTS)[number] | 'cached_404'
