import { version } from '../../daemon/package.ts'
import type { Facts, Recorded } from '../facts.ts'
import { commandButton, type Html, html, time } from './elements.ts'
import { attention, commands, failures, held, latest, mirrors, quota, underWay } from './sections.ts'

/** The HTML of the page's parts, by the id of the element that each fills. An empty part is ''. */
export type Parts = Readonly<Record<string, string>>

/** `token`: for the buttons. `now`: milliseconds since 1970. */
export function partsOf(facts: Facts, token: string, now: number): Parts {
  const { recorded } = facts
  const parts: Record<string, Html | null> = {
    head: head(facts, token),
    commands: commands(facts.commands),
    attention: attention(facts),
    'under-way': recorded && underWay(recorded, facts, now),
    quota: recorded && quota(recorded, now),
    held: recorded && held(recorded, token),
    failures: recorded && failures(recorded, token),
    mirrors: recorded && mirrors(recorded),
    latest: recorded && latest(recorded),
    log: log(facts),
  }
  return Object.fromEntries(Object.entries(parts).map(([id, part]) => [id, part?.text ?? '']))
}

/** The HTML of the whole page. */
export function documentOf(parts: Parts): string {
  const section = (id: string) => `<section id="${id}">${parts[id]}</section>`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>albumd</title>
<link rel="stylesheet" href="/style.css">
<script src="/script.js" defer></script>
<noscript><meta http-equiv="refresh" content="30"></noscript>
</head>
`.text.concat(`<body>
<header class="row"><h1 class="wide">albumd</h1><div id="head" class="row">${parts.head}</div></header>
<p id="connection" class="note" data-kind="warn" role="status"></p>
<div id="commands" class="note" role="status">${parts.commands}</div>
<main>
<section id="attention" data-kind="bad">${parts.attention}</section>
<div class="beside">${section('under-way')}${section('quota')}</div>
${section('held')}
${section('failures')}
${section('mirrors')}
${section('latest')}
${section('log')}
</main>
<footer>${html`albumd ${version}`.text} · <a href="/metrics">metrics</a> · <a href="/healthz">health</a></footer>
</body>
</html>
`)
}

/** The state of albumd in a few words, and the button that pauses or resumes albumd. `token`: for the button. */
function head(facts: Facts, token: string): Html {
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

function pause({ status }: Recorded, token: string): Html {
  if (status.paused !== null) return commandButton(token, 'resume', 'Resume')
  // "Pause" has the same place as "Resume" in the form, so the focus stays when "Resume" replaces "Pause".
  return html`<form class="row" method="post" action="/commands/pause"><input type="hidden" name="token" value="${token}"><button>Pause</button>
<label><span class="unseen">For how long</span><select name="for"><option value="1h">for 1 h</option><option value="8h">for 8 h</option><option value="">until I resume</option></select></label></form>`
}

const KINDS: Readonly<Record<string, string>> = { warn: 'warn', error: 'bad' }

function log({ log }: Facts): Html {
  if (log.length === 0) return html`<h2>Log</h2><p class="aside">Nothing yet.</p>`
  return html`<h2>Log</h2>
<ol class="log" tabindex="0" aria-label="The log's last lines, the latest first">${log.map(
    ({ time, level, text }) =>
      html`<li data-kind="${KINDS[level] ?? null}"><time datetime="${time}" data-clock>${time.slice(11, 19)}</time> <span class="tone">${level}</span> ${text}</li>`,
  )}</ol>`
}
