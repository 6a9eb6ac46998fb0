/** One line of a plot: what it is called, and its points from left to right. */
export interface Line {
  name: string
  colour: string
  points: readonly { x: number; y: number }[]
}

export interface Panel {
  title: string
  lines: readonly Line[]
  /** A number of the vertical axis as people read it. */
  written(y: number): string
}

const WIDTH = 420
const HEIGHT = 320
const MARGIN = { left: 62, right: 40, top: 34, bottom: 44 }

/** Panels side by side as SVG, both axes by powers of ten. `across`: what lies on the horizontal one. */
export function plot(across: string, panels: readonly Panel[]): string {
  const width = WIDTH * panels.length
  const inner = panels.map(
    (panel, at) => `<g transform="translate(${at * WIDTH} 0)">${drawn(panel, across)}</g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${HEIGHT}" width="${width}" height="${HEIGHT}" font-family="sans-serif" font-size="12">
<title>${panels.map(panel => panel.title).join('; ')}</title>
<rect width="100%" height="100%" fill="#fff"/>
${inner.join('\n')}
</svg>
`
}

function drawn({ title, lines, written }: Panel, across: string): string {
  const points = lines.flatMap(line => line.points)
  const x = axis(
    points.map(point => point.x),
    MARGIN.left,
    WIDTH - MARGIN.right,
  )
  const y = axis(
    points.map(point => point.y),
    HEIGHT - MARGIN.bottom,
    MARGIN.top,
  )
  const bottom = HEIGHT - MARGIN.bottom
  const grid = [
    ...x.decades.map(
      each =>
        `<path d="M${x.at(each)} ${MARGIN.top}V${bottom}" stroke="#ddd"/>${text(x.at(each), bottom + 18, 'middle', each.toLocaleString('en-US'))}`,
    ),
    ...y.decades.map(
      each =>
        `<path d="M${MARGIN.left} ${y.at(each)}H${WIDTH - MARGIN.right}" stroke="#ddd"/>${text(MARGIN.left - 6, y.at(each) + 4, 'end', written(each))}`,
    ),
  ]
  const drawnLines = lines.map((line, at) => {
    const path = line.points.map(
      (point, first) => `${first === 0 ? 'M' : 'L'}${x.at(point.x)} ${y.at(point.y)}`,
    )
    const dots = line.points.map(
      point => `<circle cx="${x.at(point.x)}" cy="${y.at(point.y)}" r="3" fill="${line.colour}"/>`,
    )
    const legend = MARGIN.top + 16 + at * 16
    const named = `<path d="M${MARGIN.left + 10} ${legend - 4}h18" stroke="${line.colour}" stroke-width="2"/>${text(MARGIN.left + 34, legend, 'start', line.name)}`
    return `<path d="${path.join('')}" fill="none" stroke="${line.colour}" stroke-width="2"/>${dots.join('')}${named}`
  })
  const words = [
    text(WIDTH / 2, 20, 'middle', title, ' font-weight="bold"'),
    text(WIDTH / 2, HEIGHT - 8, 'middle', across),
  ]
  return [...grid, ...drawnLines, ...words].join('\n')
}

/** Where a value stands between `from` and `to`, from the power of ten below all values to the one above. */
function axis(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    at: (value: number) => Math.round(from + ((Math.log10(value) - low) / (high - low)) * (to - from)),
    decades: Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at)),
  }
}

function text(x: number, y: number, anchor: string, words: string, more = ''): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${more}>${words}</text>`
}
