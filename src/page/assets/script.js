// What the page does by itself: it shows the news as they come, sends its buttons' commands without leaving, copies
// addresses, and shows times by the reader's clock. Without it the page works, and is loaded again every half minute.

const connection = document.getElementById('connection')
const LOST = 'albumd does not answer. This page shows how it stood, and asks again.'
const AGAIN_MS = 3000
/** All tabs of this browser. */
const tabs = new BroadcastChannel('albumd')
/** What the one that listens knows: the latest parts of the page, and whether the stream is lost. */
const known = { version: null, parts: {}, lost: false }
let listens = false

/**
 * A browser has six connections to one address, and a stream keeps one: one tab listens, and tells the others. When it is
 * closed, the next one does.
 */
function begin() {
  tabs.addEventListener('message', ({ data }) => {
    if (!data.asks) hear(data)
    else if (listens) tabs.postMessage(known)
  })
  tabs.postMessage({ asks: true })
  // Without TLS, and not on this machine, a browser has no locks: there each tab listens.
  if (!navigator.locks) return listen()
  void navigator.locks.request('albumd', () => new Promise(listen))
}

function listen() {
  listens = true
  const events = new EventSource('/events')
  events.addEventListener('version', event => tell({ version: JSON.parse(event.data), lost: false }))
  events.addEventListener('parts', event => tell({ parts: JSON.parse(event.data) }))
  events.addEventListener('error', () => {
    tell({ lost: true })
    // A browser gives up where it gets an answer that is no stream.
    if (events.readyState === EventSource.CLOSED) setTimeout(listen, AGAIN_MS)
  })
}

function tell(news) {
  tabs.postMessage(news)
  hear(news)
}

function hear({ version = known.version, parts = {}, lost = known.lost }) {
  // Another albumd may have another page.
  if (known.version !== null && known.version !== version) location.reload()
  if (known.lost !== lost) show(lost ? LOST : null)
  for (const [id, part] of Object.entries(parts)) fill(id, part)
  Object.assign(known, { version, lost, parts: { ...known.parts, ...parts } })
}

function show(line) {
  if (connection.textContent !== (line ?? '')) connection.textContent = line ?? ''
}

/** `part`: HTML of our own server, in which all that is not ours is escaped. */
function fill(id, part) {
  const template = document.createElement('template')
  template.innerHTML = part
  localTimes(template.content)
  become(document.getElementById(id), template.content)
}

/** Makes `node` hold what `next` holds, and leaves what is the same: focus, selection, pictures, what is unfolded. */
function become(node, next) {
  const children = [...next.childNodes]
  for (const [index, wanted] of children.entries()) {
    const there = node.childNodes[index]
    if (there === undefined) node.append(wanted)
    else if (isSame(there, wanted)) renew(there, wanted)
    else {
      const later = wanted.id ? [...node.childNodes].find(other => other.id === wanted.id) : undefined
      if (later) {
        node.insertBefore(later, there)
        renew(later, wanted)
      } else node.insertBefore(wanted, there)
    }
  }
  while (node.childNodes.length > children.length) node.lastChild.remove()
}

function isSame(there, wanted) {
  return there.nodeName === wanted.nodeName && (there.id ?? '') === (wanted.id ?? '')
}

function renew(there, wanted) {
  if (there.nodeType !== Node.ELEMENT_NODE) {
    if (there.data !== wanted.data) there.data = wanted.data
    return
  }
  for (const { name } of [...there.attributes])
    if (!wanted.hasAttribute(name) && !isOfReader(name)) there.removeAttribute(name)
  for (const { name, value } of wanted.attributes)
    if (there.getAttribute(name) !== value) there.setAttribute(name, value)
  // What the reader has chosen stays chosen, and a button says for a moment that it was heard.
  if (there.nodeName !== 'SELECT' && !there.hasAttribute('data-said')) become(there, wanted)
}

function isOfReader(attribute) {
  return attribute === 'open' || attribute === 'data-said' || attribute === 'aria-disabled'
}

function localTimes(within) {
  for (const time of within.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    time.title = at.toLocaleString()
    time.textContent = 'clock' in time.dataset ? at.toLocaleTimeString() : shortly(at)
  }
}

/** Today's times need no date. */
function shortly(at) {
  const clock = { hour: '2-digit', minute: '2-digit' }
  if (at.toDateString() === new Date().toDateString()) return at.toLocaleTimeString([], clock)
  return at.toLocaleString([], { ...clock, day: 'numeric', month: 'short' })
}

async function ask(form, button) {
  button.setAttribute('aria-disabled', 'true')
  try {
    const body = new URLSearchParams(new FormData(form))
    const answer = await fetch(form.action, { method: 'POST', body, redirect: 'manual' })
    // It leads back to this page, which is here already.
    show(answer.type === 'opaqueredirect' ? null : await answer.text())
  } catch {
    show('albumd does not answer; nothing was asked for.')
  } finally {
    button.removeAttribute('aria-disabled')
  }
}

async function copy(button) {
  const address = button.dataset.copy
  try {
    await navigator.clipboard.writeText(address)
    say(button, 'Copied')
  } catch {
    // Without TLS, and not on this machine, a browser lets no script copy: the address is marked for the reader to do it.
    getSelection().selectAllChildren(button.previousElementSibling)
    say(button, 'Press Ctrl-C')
  }
}

function say(button, word) {
  if (button.hasAttribute('data-said')) return
  const before = [...button.childNodes]
  button.setAttribute('data-said', '')
  button.replaceChildren(word)
  setTimeout(() => {
    button.replaceChildren(...before)
    button.removeAttribute('data-said')
  }, 2000)
}

document.addEventListener('submit', event => {
  event.preventDefault()
  const button = event.submitter ?? event.target.querySelector('button')
  if (button.getAttribute('aria-disabled') !== 'true') void ask(event.target, button)
})

document.addEventListener('click', event => {
  const button = event.target.closest('button[data-copy]')
  if (button) void copy(button)
})

localTimes(document)
begin()
