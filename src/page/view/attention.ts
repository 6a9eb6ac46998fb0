import { count } from '../../daemon/quantities.ts'
import type { Facts } from '../facts.ts'
import { type Html, html } from '../html.ts'

/** What needs a person, and what people have asked for. */
export function attention({ recorded, stateTrouble }: Facts): Html | null {
  const troubles =
    stateTrouble === null
      ? (recorded?.troubles ?? [])
      : [{ key: 'STATE', code: 'STATE', message: stateTrouble }]
  if (troubles.length === 0) return null
  const few = troubles.slice(0, 8)
  const more = troubles.length - few.length
  return html`<h2>${troubles.length === 1 ? 'This needs you' : `${count(troubles.length, 'thing')} need you`}</h2>
<ul>${few.map(({ code, message }) => html`<li>${message} <code>${code}</code></li>`)}${
    more > 0 && html`<li>and ${more} more</li>`
  }</ul>`
}

const STATES = {
  waits: ['is asked for; it waits for what is under way', null],
  'under way': ['is under way', 'busy'],
  done: ['is done', 'good'],
  refused: ['can not be done', 'bad'],
} as const

export function wishes({ wishes }: Facts): Html | null {
  if (wishes.length === 0) return null
  return html`<ul>${wishes.map(({ id, what, state, why }) => {
    const [words, kind] = STATES[state]
    return html`<li id="wish-${id}" data-kind="${kind}"><b class="tone">${what}</b> ${words}${why !== null && `: ${why}`}</li>`
  })}</ul>`
}
