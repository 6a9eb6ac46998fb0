/** When the host's day begins: minutes after midnight in a time zone. */
export interface QuotaReset {
  minutes: number
  time_zone: string
}

/** Of a moment (milliseconds since 1970), the day whose quota it counts to, as YYYY-MM-DD. §8 does not say when a day begins; UTC's midnight is as good as any. */
export function quotaDayOf(reset: QuotaReset = { minutes: 0, time_zone: 'UTC' }): (wall: number) => string {
  const { minutes, time_zone } = reset
  // en-CA writes dates as ISO does.
  const day = new Intl.DateTimeFormat('en-CA', {
    timeZone: time_zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return wall => day.format(wall - minutes * 60_000)
}
