import { version } from '../../daemon/package.ts'
import type { Facts } from '../facts.ts'
import { attention, commands, failures, held } from './attention.ts'
import { head, log } from './head.ts'
import { type Html, html } from './html.ts'
import { mirrors, quota } from './mirrors.ts'
import { latest, underWay } from './pictures.ts'

/** The HTML of the page's parts, by the id of the element that each fills. An empty part is ''. */
export type Parts = Readonly<Record<string, string>>

/** `token`: for the buttons. `now`: milliseconds since 1970. */
export function partsOf(facts: Facts, token: string, now: number): Parts {
  const parts: Record<string, Html | null> = {
    head: head(facts, token),
    commands: commands(facts),
    attention: attention(facts),
    'under-way': underWay(facts, now),
    quota: quota(facts, now),
    held: held(facts, token),
    failures: failures(facts, token),
    mirrors: mirrors(facts),
    latest: latest(facts),
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
