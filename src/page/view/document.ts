import { version } from '../../daemon/package.ts'
import type { Millis } from '../../protocol/clock.ts'
import type { Facts, Recorded } from '../facts.ts'
import { attention, failures, held, late } from './decisions.ts'
import { commandButton, type Html, html, time } from './elements.ts'
import { commands, latest, mirrors, quota, underWay } from './sections.ts'
import { stateInWords } from './state.ts'

/** The HTML of the whole page. Its script fills each element with an id anew. `token`: for the buttons. */
export function documentOf(facts: Facts, token: string, now: Millis): string {
  const { recorded } = facts
  const section = (id: string, content: Html | null, kind: string | null = null) =>
    html`<section id="${id}" data-kind="${kind}">${content}</section>`
  return frame(
    html`${stateInWords(facts).words} – albumd`.text,
    `<script src="/script.js" defer></script>
<noscript><meta http-equiv="refresh" content="30"></noscript>`,
    html`<header class="row"><h1 class="wide">albumd</h1><div id="head" class="row">${head(facts, token)}</div></header>
<p id="connection" class="note" data-kind="warn" role="status"></p>
<div id="commands" class="note" role="status">${commands(facts.commands)}</div>
<main>
${section('attention', attention(facts), 'bad')}
${section('late', late(facts), 'warn')}
<div class="beside">${section('under-way', recorded && underWay(recorded, facts))}${section('quota', recorded && quota(recorded, now))}</div>
${section('held', recorded && held(recorded, token))}
${section('failures', recorded && failures(recorded, token))}
${section('mirrors', recorded && mirrors(recorded))}
${section('latest', recorded && latest(recorded))}
</main>
<footer>albumd ${version} · <a href="/metrics">metrics</a> · <a href="/healthz">health</a></footer>`.text,
  )
}

/** `title`, `head` and `body` are HTML. */
function frame(title: string, head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/style.css">
${head}
</head>
<body>
${body}
</body>
</html>
`
}

/** What another user sees who has not shown the key yet. `keyFile`: where the key is. */
export function lockedDocument(keyFile: string): string {
  return frame(
    'albumd',
    '',
    html`<header><h1>albumd</h1></header>
<main><section>
<h2>This page needs a key</h2>
<p>It opens by itself only for the user who runs albumd, on the same machine. That user, and root, find the key in this file:</p>
<p><code>${keyFile}</code></p>
<p>Have the key at hand, then <a href="/enter">enter it as the password</a>. Any user name will do.</p>
</section></main>`.text,
  )
}

/** The state of albumd in a few words, and the button that pauses or resumes albumd. `token`: for the button. */
function head(facts: Facts, token: string): Html {
  const { kind, words, until } = stateInWords(facts)
  return html`<b class="chip" data-kind="${kind}">${words}${until !== null && html` until ${time(until)}`}</b>${facts.recorded && pause(facts.recorded, token)}`
}

function pause({ status }: Recorded, token: string): Html {
  if (status.paused !== null) return commandButton(token, 'resume', 'Resume')
  // "Pause" has the same place as "Resume" in the form, so the focus stays when "Resume" replaces "Pause".
  return html`<form class="row" method="post" action="/commands/pause"><input type="hidden" name="token" value="${token}"><button>Pause</button>
<label><span class="unseen">For how long</span><select name="for"><option value="1h">for 1 h</option><option value="8h">for 8 h</option><option value="">until I resume</option></select></label></form>`
}
