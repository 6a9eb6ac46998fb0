/** How work is ended: first nothing new is begun, then what is under way is cut off. */
export interface Interruption {
  stop: AbortSignal
  cut: AbortSignal
  /** Ends a pass's uploads alone, as `stop` would: there is something to look at first. */
  pauseUploads?: AbortSignal
  /** Ends a pass's deletions alone: there is something to look at first. */
  pauseDeletions?: AbortSignal
  /** Ends a pass soon, its scans aside: a person waits for something else. What it leaves is the next one's. */
  makeWay?: AbortSignal
}
