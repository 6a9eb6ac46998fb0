import { readFileSync } from 'node:fs'

/** What the page has beside its HTML. In the package this code is in another folder, beside page/. */
export interface Assets {
  style: string
  script: string
}

export function readAssets(): Assets {
  const read = (name: string) => readFileSync(new URL(`../page/assets/${name}`, import.meta.url), 'utf8')
  return { style: `${read('colours.css')}\n${read('style.css')}`, script: read('script.js') }
}
