import { figure } from '../limits.ts'

/** Bars in groups; each group has one bar a series, null where nothing was measured. */
export interface BarChart {
  title: string
  /** What the bars' heights are, with the unit. */
  valueAxis: string
  groupAxis: string
  series: string[]
  groups: { label: string; values: (number | null)[] }[]
}

const WIDTH = 760
const HEIGHT = 380
const PLOT = { left: 70, top: 84, right: 16, bottom: 52 }
const PLOT_WIDTH = WIDTH - PLOT.left - PLOT.right
const PLOT_HEIGHT = HEIGHT - PLOT.top - PLOT.bottom
const BASE = PLOT.top + PLOT_HEIGHT
/** The part of a group's place that its bars take. */
const FILLED = 0.8
const WIDEST_BAR = 56
const LEGEND_STEP = 18
const CHARACTER_WIDTH = 6.6

/** Colours that differ in lightness as well, for the light and the dark scheme of whoever looks. */
const STYLE = `text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-size:15px;font-weight:600}
.faint{fill:#59636e}.value{font-size:10px;text-anchor:middle}.grid{stroke:#d1d9e0}.axis{stroke:#59636e}
.s0{fill:#8c959f}.s1{fill:#d4a72c}.s2{fill:#1a7f37}.s3{fill:#54aeff}.s4{fill:#8250df}
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.faint{fill:#9198a1}.grid{stroke:#3d444d}.axis{stroke:#9198a1}
.s0{fill:#6e7681}.s1{fill:#d29922}.s2{fill:#3fb950}.s3{fill:#388bfd}.s4{fill:#a371f7}}`

/** Draws a chart as an SVG document that needs no font, script or colour of the page around it. */
export function drawBarChart(chart: BarChart): string {
  const { title, valueAxis, groupAxis, groups } = chart
  const most = Math.max(...groups.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const step = tickStep(most)
  const top = Math.max(step, Math.ceil(most / step) * step)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    `<title>${escapeText(title)}</title>`,
    `<style>${STYLE}</style>`,
    text(16, 26, title, 'title'),
    ...legend(chart.series),
    ...grid(top, step),
    ...groups.flatMap((group, index) => bars(group, index, groups.length, top)),
    `<line class="axis" x1="${PLOT.left}" y1="${BASE}" x2="${WIDTH - PLOT.right}" y2="${BASE}"/>`,
    text(PLOT.left + PLOT_WIDTH / 2, HEIGHT - 12, groupAxis, 'faint', 'middle'),
    `<text class="faint" text-anchor="middle" transform="translate(16 ${PLOT.top + PLOT_HEIGHT / 2}) rotate(-90)">${escapeText(valueAxis)}</text>`,
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

/** The round number that divides a height into four to ten parts. */
export function tickStep(most: number): number {
  if (!(most > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(most / 4))
  const factor = [5, 2, 1].find((candidate) => candidate * power <= most / 4) ?? 1
  return factor * power
}

function grid(top: number, step: number): string[] {
  const lines: string[] = []
  for (let index = 0; index * step <= top * 1.0001; index++) {
    const value = index * step
    const y = round(BASE - (value / top) * PLOT_HEIGHT)
    lines.push(
      `<line class="grid" x1="${PLOT.left}" y1="${y}" x2="${WIDTH - PLOT.right}" y2="${y}"/>`,
      text(PLOT.left - 8, y + 4, figure(value), 'faint', 'end'),
    )
  }
  return lines
}

function bars(
  { label, values }: BarChart['groups'][number],
  index: number,
  count: number,
  top: number,
): string[] {
  const place = PLOT_WIDTH / count
  const width = Math.min(WIDEST_BAR, (place * FILLED) / values.length)
  const middle = PLOT.left + place * (index + 0.5)
  const start = middle - (width * values.length) / 2
  const drawn = values.flatMap((value, series) => {
    if (value === null) return []
    const height = round((value / top) * PLOT_HEIGHT)
    const x = round(start + series * width)
    return [
      `<rect class="s${series}" x="${x}" y="${round(BASE - height)}" width="${round(width - 2)}" height="${height}"/>`,
      text(round(x + width / 2 - 1), round(BASE - height - 4), figure(value), 'value'),
    ]
  })
  return [...drawn, text(round(middle), BASE + 18, label, 'label', 'middle')]
}

function legend(series: string[]): string[] {
  let x = 16
  return series.flatMap((name, index) => {
    const parts = [
      `<rect class="s${index}" x="${x}" y="44" width="12" height="12"/>`,
      text(x + LEGEND_STEP, 54, name, 'faint'),
    ]
    x = round(x + LEGEND_STEP + name.length * CHARACTER_WIDTH + LEGEND_STEP)
    return parts
  })
}

function text(x: number, y: number, content: string, kind: string, anchor?: 'middle' | 'end'): string {
  const placed = anchor ? ` text-anchor="${anchor}"` : ''
  return `<text class="${kind}" x="${x}" y="${y}"${placed}>${escapeText(content)}</text>`
}

function escapeText(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
