/** How work is ended: first nothing new is begun, then what is under way is cut off. */
export interface Interruption {
  stop: AbortSignal
  cut: AbortSignal
  /** Ends a pass's uploads alone, as `stop` would: there is something to look at first. */
  pauseUploads?: AbortSignal
  /** Ends a pass's deletions alone: there is something to look at first. */
  pauseDeletions?: AbortSignal
  /** Ends a pass soon, except its scans: a person waits for something else. The next pass does what is left. */
  makeWay?: AbortSignal
}

/** For steps that end at once when a person waits for something else. */
export function endingForOthers({ stop, makeWay, ...rest }: Interruption): Interruption {
  return { ...rest, stop: makeWay ? AbortSignal.any([stop, makeWay]) : stop }
}

/** For deletions. They may take hours at the host's rate, so they also end when there are new pictures. */
export function endingForNews({ pauseDeletions, ...rest }: Interruption): Interruption {
  const ending = endingForOthers(rest)
  return pauseDeletions ? { ...ending, stop: AbortSignal.any([ending.stop, pauseDeletions]) } : ending
}
