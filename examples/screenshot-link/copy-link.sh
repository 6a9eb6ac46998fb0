#!/bin/sh
# For notify.on_upload: puts the picture's address into the clipboard, and says so on the desktop.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }

copy() {
  if [ -n "${WAYLAND_DISPLAY:-}" ] && has wl-copy; then wl-copy
  elif [ -n "${DISPLAY:-}" ] && has xclip; then xclip -selection clipboard
  elif [ -n "${DISPLAY:-}" ] && has xsel; then xsel --clipboard --input
  else
    echo 'no clipboard: install wl-clipboard, xclip or xsel, and see that the desktop is in the environment' >&2
    return 1
  fi
}

printf %s "$ALBUMD_URL" | copy >/dev/null
if has notify-send; then notify-send 'Link copied' "$(basename -- "$ALBUMD_PATH")" || true; fi
