import { version } from '../../daemon/package.ts'
import type { Millis } from '../../protocol/clock.ts'
import type { Facts, Recorded } from '../facts.ts'
import { alerts, deletions, failures } from './decisions.ts'
import { commandButton, type Html, html, time } from './elements.ts'
import { commands, latest, log, mirrors, quota } from './sections.ts'
import { stateInWords } from './state.ts'

/** The HTML of the whole page. Its script fills #head, #commands and #main anew. `token`: for the buttons. */
export function documentOf(facts: Facts, token: string, now: Millis): string {
  const { recorded } = facts
  return frame(
    html`${stateInWords(facts).words} – albumd`.text,
    `<script src="/script.js" defer></script>
<noscript><meta http-equiv="refresh" content="30"></noscript>`,
    html`<header class="row"><h1>albumd</h1><div id="head" class="row">${head(facts, token)}</div></header>
<p id="connection" class="note" role="status"></p>
<div id="commands" class="note" role="status">${commands(facts.commands)}</div>
<main id="main">
${recorded && deletions(recorded, token)}
${alerts(facts)}
${
  recorded &&
  html`${failures(recorded, token)}
${mirrors(recorded, facts)}
${quota(recorded, now)}
${latest(recorded)}`
}
${log(facts.log)}
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
  const { needsPerson, words, until } = stateInWords(facts)
  return html`<b class="${needsPerson ? 'needs' : null}">${words}${until !== null && html` until ${time(until)}`}</b>${facts.recorded && pause(facts.recorded, token)}`
}

function pause({ status }: Recorded, token: string): Html {
  if (status.paused !== null) return commandButton(token, { command: 'resume', label: 'Resume' })
  // "Pause" has the same place as "Resume" in the form, so the focus stays when "Resume" replaces "Pause".
  return html`<form class="row" method="post" action="/commands/pause"><input type="hidden" name="token" value="${token}"><button>Pause</button>
<label><span class="unseen">For how long</span><select name="for"><option value="1h">for 1 h</option><option value="8h">for 8 h</option><option value="">until I resume</option></select></label></form>`
}
