/** One thing that the next pass would do, and why. Paths are below the mirror's folder. */
export type Operation =
  | { operation: 'upload'; mirror: string; path: string; size: number; reason: string }
  /** Its old image goes once the new one is there. */
  | { operation: 'replace'; mirror: string; path: string; size: number; reason: string }
  /** Read and hashed; uploaded only if its bytes are new. */
  | { operation: 'compare'; mirror: string; path: string; size: number; reason: string }
  | { operation: 'delete'; mirror: string; path: string; reason: string }
  /** It is to go, and waits for a person's word. */
  | { operation: 'hold'; mirror: string; path: string; reason: string }
  | { operation: 'use_album'; mirror: string; album: string; reason: string }
  | { operation: 'none'; mirror: string; reason: string }
