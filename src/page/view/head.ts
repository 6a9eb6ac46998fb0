import type { Facts } from '../facts.ts'
import { commandButton, time } from './elements.ts'
import { type Html, html } from './html.ts'

/** The state of albumd in a few words, and the button that pauses albumd. `token`: for the button. */
export function head(facts: Facts, token: string): Html {
  const [kind, words] = stateInWords(facts)
  return html`<b class="chip" data-kind="${kind}">${words}</b>${facts.recorded && pause(facts.recorded, token)}`
}

function stateInWords({ recorded, stateProblem, underWay }: Facts): ['good' | 'busy' | 'warn' | 'bad', Html] {
  if (stateProblem !== null) return ['bad', html`albumd waits for its state`]
  if (recorded === null) return ['busy', html`albumd begins`]
  const { status, alerts } = recorded
  if (alerts.length > 0) return ['bad', html`Needs your attention`]
  if (status.paused !== null)
    return ['warn', html`Paused${status.paused.until !== null && html` until ${time(status.paused.until)}`}`]
  if (underWay.length > 0) return ['busy', html`Uploading`]
  if (status.mirrors.some(({ state }) => state === 'scanning')) return ['busy', html`Scanning`]
  const left = status.mirrors.some(mirror => LEFT.some(what => mirror[what] > 0))
  return left ? ['busy', html`Something is left to do`] : ['good', html`All in sync`]
}

const LEFT = ['pending_uploads', 'pending_deletions', 'failed', 'uncertain', 'linked'] as const

function pause({ status }: NonNullable<Facts['recorded']>, token: string): Html {
  if (status.paused !== null) return commandButton(token, 'resume', 'Resume')
  // The button has the place of the later "Resume" button, so the focus stays there.
  return html`<form class="row" method="post" action="/commands/pause"><input type="hidden" name="token" value="${token}"><button>Pause</button>
<label><span class="unseen">For how long</span><select name="for"><option value="1h">for 1 h</option><option value="8h">for 8 h</option><option value="">until I resume</option></select></label></form>`
}

const LEVELS = { debug: null, info: null, warn: 'warn', error: 'bad' } as const

/** The last lines of the log. */
export function log({ log }: Facts): Html {
  if (log.length === 0) return html`<h2>Log</h2><p class="aside">Nothing yet.</p>`
  return html`<h2>Log</h2>
<ol class="log" tabindex="0" aria-label="The log's last lines, the latest first">${log.map(
    ({ time, level, text }) =>
      html`<li data-kind="${LEVELS[level]}"><time datetime="${time}" data-clock>${time.slice(11, 19)}</time> <span class="tone">${level}</span> ${text}</li>`,
  )}</ol>`
}
