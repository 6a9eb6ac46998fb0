#!/bin/sh
# For notify.on_upload: adds the picture, with its album and its address, to the page that is named.
set -eu
page=$1

# File names are no markup, and stay on their line.
escaped() {
  printf %s "$1" | tr '\n\r' '  ' | sed "s/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/\"/\&quot;/g; s/'/\&#39;/g"
}

url=$(escaped "$ALBUMD_URL")
name=$(escaped "$(basename -- "$ALBUMD_PATH")")
album=$(escaped "$ALBUMD_ALBUM")

if [ ! -e "$page" ]; then
  printf '%s\n' '<!doctype html><meta charset="utf-8"><title>Uploads</title><style>img{max-height:8em}</style>' >"$page"
fi
printf '<p><a href="%s"><img src="%s" alt="%s" loading="lazy"></a> %s/%s</p>\n' \
  "$url" "$url" "$name" "$album" "$name" >>"$page"
