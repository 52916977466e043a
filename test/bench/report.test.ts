import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawBarChart, tickStep } from '#bench/report/bar-chart.ts'
import { drawCharts } from '#bench/report/charts.ts'
import { performancePage } from '#bench/report/page.ts'
import type { Results } from '#bench/results.ts'

const DOCS = new URL('../../docs/', import.meta.url)
const FOLDER = new URL('performance/', DOCS)
const read = (name: string, folder = FOLDER) => readFileSync(new URL(name, folder), 'utf8')
const published: Results = JSON.parse(read('results.json'))

test('the page of figures is what the published results make', () => {
  expect(read('performance.md', DOCS)).toBe(performancePage(published))
})

test('its charts are what the published results make, and no others are there', () => {
  const charts = drawCharts(published)
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.svg'))
  expect(files.toSorted()).toEqual([...charts.keys()].toSorted())
  for (const [name, chart] of charts) expect(read(name), name).toBe(chart)
})

test('the page shows every chart and names no host and no path of the machine', () => {
  const page = read('performance.md', DOCS)
  const shown = [...page.matchAll(/!\[[^\]]*\]\(performance\/([^)]*)\)/g)].map(([, name]) => name)
  expect(shown.toSorted()).toEqual([...drawCharts(published).keys()].toSorted())
  expect(page).not.toMatch(/\/(tmp|home|root|work|var|Users)\b/)
})

/** The names of the elements of an XML document; fails where tags do not match or text is not escaped. */
function elementsOf(xml: string): string[] {
  const open: string[] = []
  const names: string[] = []
  let at = 0
  for (const tag of xml.matchAll(/<(\/?)([a-z]+)((?: [A-Za-z0-9:-]+="[^"<&]*")*)(\/?)>/g)) {
    const between = xml.slice(at, tag.index)
    expect(between.replaceAll(/&(amp|lt|gt);/g, '')).not.toMatch(/[<>&]/)
    at = tag.index + tag[0].length
    const [, closing, name = '', , empty] = tag
    if (closing) expect(open.pop()).toBe(name)
    else {
      names.push(name)
      if (!empty) open.push(name)
    }
  }
  expect(xml.slice(at).trim()).toBe('')
  expect(open).toEqual([])
  return names
}

test('any chart is well-formed SVG with a bar for each value, none higher than the plot', () => {
  const value = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }))
  const chart = fc
    .tuple(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), fc.integer({ min: 1, max: 6 }))
    .chain(([series, groups]) =>
      fc.record({
        title: fc.string(),
        valueAxis: fc.string(),
        groupAxis: fc.string(),
        series: fc.constant(series),
        groups: fc.array(
          fc.record({
            label: fc.string(),
            values: fc.array(value, { minLength: series.length, maxLength: series.length }),
          }),
          { minLength: groups, maxLength: groups },
        ),
      }),
    )
  fc.assert(
    fc.property(chart, (drawn) => {
      const svg = drawBarChart(drawn)
      const elements = elementsOf(svg)
      expect(elements[0]).toBe('svg')
      const bars = drawn.groups.flatMap(({ values }) => values.filter((one) => one !== null))
      expect(elements.filter((name) => name === 'rect')).toHaveLength(bars.length + drawn.series.length)
      for (const [, height] of svg.matchAll(/<rect [^>]*height="([\d.]+)"/g)) {
        expect(Number(height)).toBeLessThanOrEqual(244)
      }
    }),
  )
})

test('an axis has four to ten round steps', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (most) => {
      const step = tickStep(most)
      expect(most / step).toBeGreaterThanOrEqual(3.999)
      expect(most / step).toBeLessThanOrEqual(10.001)
      expect(step.toExponential(9)).toMatch(/^[125]\.0+e/)
    }),
  )
})
