/** How work is ended: first nothing new is begun, then what is under way is cut off. */
export interface Interruption {
  stop: AbortSignal
  cut: AbortSignal
}
