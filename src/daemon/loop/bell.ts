/** Calls the daemon's loop away from its rest. It rings on until the loop has heard it. */
export class Bell {
  #ringing = new AbortController()

  /** Aborted while it rings. Each `heard` begins another one. */
  get signal(): AbortSignal {
    return this.#ringing.signal
  }

  ring(): void {
    this.#ringing.abort()
  }

  heard(): void {
    if (this.#ringing.signal.aborted) this.#ringing = new AbortController()
  }
}
