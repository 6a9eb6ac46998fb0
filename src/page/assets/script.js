// This script shows news every few seconds, sends a button's command without loading the page again, copies addresses, and
// shows times in the reader's time zone. Without this script the page works too, and is loaded again every half minute.

const connection = document.getElementById('connection')
const LOST = 'albumd does not answer. This page shows how it stood, and asks again.'
const EVERY_MS = 2000
const WITHIN_MS = 30_000
/** Asking takes at most one SHARE-th of the time, because the daemon has other work. Even a slow browser keeps to this. */
const SHARE = 5
let timer

/** Shows the page as it is now, and again after a while. A tab that nobody sees does not ask. */
async function renewPage() {
  clearTimeout(timer)
  if (document.visibilityState !== 'visible') return
  const began = performance.now()
  try {
    const answer = await fetch('/', { signal: AbortSignal.timeout(WITHIN_MS) })
    if (!answer.ok) throw new Error(answer.statusText)
    showPage(new DOMParser().parseFromString(await answer.text(), 'text/html'))
  } catch {
    show(LOST)
    document.title = 'No answer – albumd'
  }
  clearTimeout(timer)
  timer = setTimeout(renewPage, Math.max(EVERY_MS, (performance.now() - began) * SHARE))
}

function showPage(next) {
  // Another version of albumd may have another page, so the whole page is loaded.
  const versionOf = page => page.querySelector('footer').textContent
  if (versionOf(next) !== versionOf(document)) return location.reload()
  if (connection.textContent === LOST) show(null)
  document.title = next.title
  for (const part of next.querySelectorAll('#head, #commands, #main')) fill(part)
  // Loads again the images that albumd could not show yet.
  for (const image of document.images)
    if (image.complete && image.naturalWidth === 0) image.src = image.getAttribute('src')
}

/** Shows `line` above the page. Null: nothing is shown. */
function show(line) {
  if (connection.textContent !== (line ?? '')) connection.textContent = line ?? ''
}

/** Fills a part of the page. `part`: comes from a page in which albumd has escaped names and messages. */
function fill(part) {
  localTimes(part)
  const place = document.getElementById(part.id)
  const had = place.contains(document.activeElement)
  become(place, part)
  // The element with the focus is gone, so this part of the page gets the focus.
  if (had && !place.contains(document.activeElement)) {
    place.tabIndex = -1
    place.focus()
  }
}

/** Gives `node` the content of `next`. Equal elements stay, so that focus, selection and unfolded lists stay too. */
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
  // An open popover stays as it is: the reader is deciding about what it shows.
  if (there.popover && there.matches(':popover-open')) return
  if (there.nodeType !== Node.ELEMENT_NODE) {
    if (there.data !== wanted.data) there.data = wanted.data
    return
  }
  for (const { name } of [...there.attributes])
    if (!wanted.hasAttribute(name) && !isOfReader(name)) there.removeAttribute(name)
  for (const { name, value } of wanted.attributes)
    if (there.getAttribute(name) !== value) there.setAttribute(name, value)
  // A SELECT keeps the reader's choice. An element with `data-said` shows "Copied" for a moment.
  if (there.nodeName !== 'SELECT' && !there.hasAttribute('data-said')) become(there, wanted)
}

function isOfReader(attribute) {
  return attribute === 'open' || attribute === 'data-said' || attribute === 'aria-disabled'
}

function localTimes(within) {
  for (const time of within.querySelectorAll('time')) {
    const at = new Date(time.dateTime)
    time.title = at.toLocaleString()
    time.textContent = shortly(at)
  }
}

/** A time, without its date when it is today. */
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
    // A redirect means success. It leads to this page, so the script does not follow it.
    show(answer.type === 'opaqueredirect' ? null : await answer.text())
    void renewPage()
  } catch {
    show('albumd does not answer; nothing was asked for.')
  } finally {
    form.closest('[popover]')?.hidePopover()
    button.removeAttribute('aria-disabled')
  }
}

async function copy(link) {
  const name = link.querySelector('.name')
  if (name.hasAttribute('data-said')) return
  try {
    await navigator.clipboard.writeText(link.href)
  } catch {
    // A browser lets scripts copy only over TLS or on this machine. Elsewhere the address is opened.
    return open(link.href, '_blank', 'noopener')
  }
  const before = name.textContent
  name.setAttribute('data-said', '')
  name.textContent = 'Copied'
  setTimeout(() => {
    name.textContent = before
    name.removeAttribute('data-said')
  }, 2000)
}

document.addEventListener('submit', event => {
  event.preventDefault()
  const button = event.submitter ?? event.target.querySelector('button')
  if (button.getAttribute('aria-disabled') !== 'true') void ask(event.target, button)
})

document.addEventListener('click', event => {
  const link = event.target.closest('a[data-copy]')
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  void copy(link)
})

document.addEventListener('visibilitychange', renewPage)
localTimes(document)
timer = setTimeout(renewPage, EVERY_MS)
