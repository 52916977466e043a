import { figure } from '../limits.ts'
import { drawBarChart } from '../report/bar-chart.ts'
import type { Method, MethodResult, SizeResult, ZonalResults } from './results.ts'

const NAMES: Record<Method, string> = {
  exact: 'cut out one by one',
  centres: 'centres of pixels',
  st_clip: 'ST_Clip',
  service: 'this service',
}

/** Those that are held against the exact computation. */
const COMPARED: Method[] = ['centres', 'st_clip', 'service']

/** The charts of what was measured, as SVG documents, by the names of their files. */
export function drawZonalCharts({ sizes }: ZonalResults): Map<string, string> {
  const groups = (methods: Method[], of: (result: MethodResult) => number) =>
    sizes.map((size) => ({ label: size.name, values: methods.map((method) => of(resultOf(size, method))) }))
  return new Map([
    [
      'mean-error.svg',
      drawBarChart({
        title: 'The error of the mean that 95 of 100 polygons stay below',
        valueAxis: 'per cent of the exact mean',
        groupAxis: 'size of the polygons; those for which a method finds nothing are left out',
        series: COMPARED.map((method) => NAMES[method]),
        groups: groups(COMPARED, ({ meanError95 }) => 100 * meanError95),
      }),
    ],
    [
      'total-error.svg',
      drawBarChart({
        title: 'The error of the total, the median',
        valueAxis: 'per cent of the exact total',
        groupAxis: 'size of the polygons; what is not found is off by all of it',
        series: COMPARED.map((method) => NAMES[method]),
        groups: groups(COMPARED, ({ totalError }) => 100 * totalError),
      }),
    ],
    [
      'time.svg',
      drawBarChart({
        title: 'How long a polygon takes, the median',
        valueAxis: 'milliseconds',
        groupAxis: 'size of the polygons; eight layers, from the database',
        series: ['st_clip', 'service'].map((method) => NAMES[method as Method]),
        groups: groups(['st_clip', 'service'], ({ ms }) => ms),
      }),
    ],
  ])
}

function resultOf({ methods }: SizeResult, wanted: Method): MethodResult {
  return methods.find(({ method }) => method === wanted) as MethodResult
}

/** The page, from results alone. */
export function zonalPage(results: ZonalResults): string {
  const { at, machine, data, sizes } = results
  return `# Statistics of polygons: how exact, how fast

Made by \`node bin/run.mjs bench/zonal/run.ts --report\` on ${at.slice(0, 10)}; a test holds the page and its charts to the
[results](zonal-statistics/results.json). ${machine}. The machine had other work: times are to be compared with each other.

The same polygons on ${data}, by four methods:

- **${NAMES.exact}**: every pixel on the border is cut out of the polygon by polyclip-ts, a library for that, and weighs the area
  of its part on the WGS 84 ellipsoid, by an equal-area projection with edges in 200 parts. It has no line in common with the
  service, and all others are held against it.
- **${NAMES.centres}**: pixels whose centres lie inside count whole, all others not at all, as masks of rasterio do by default.
  Computed in memory.
- **${NAMES.st_clip}**: \`ST_SummaryStatsAgg(ST_Clip(...))\` of PostGIS, in the service's database and on its tiles, which have
  a GiST index of their outlines for it; all eight layers.
- **${NAMES.service}**: \`POST /advisory/fertilizer\` with a token, over HTTP, all eight layers, nothing of it remembered; its time
  has all of a request in it: who asks, whether the polygon is valid, and the answer kept in the history.
  Its layers answer with ten decimals here; hectares and percentages have four, which is what is left of errors of its totals.

exactextract weighs pixels by the part that is covered, as the service does; it can be had from neither npm nor Debian, and was
not measured. Squares are turned by any angle, around points with a value; a district is a star of nine spikes of 33 km.

${sizes.map(tableOf).join('\n\n')}

![the error of the mean](zonal-statistics/mean-error.svg)

![the error of the total](zonal-statistics/total-error.svg)

![how long it takes](zonal-statistics/time.svg)

A pixel is about nine hectares here. A mean is most often that of one or two pixels in a small field, and right where a centre
happens to lie inside; a total is the mean times the covered area, which comes in whole pixels where none is divided.
`
}

function tableOf({ name, polygons, pixels, methods }: SizeResult): string {
  const rows = methods.map(
    ({ method, missed, meanError, meanError95, totalError, totalError95, ms }) =>
      `| ${NAMES[method]} | ${percent(missed)} | ${errors(method, meanError, meanError95)} | ${errors(method, totalError, totalError95)} | ${figure(ms)} |`,
  )
  return `**${polygons} polygons of ${name}**, ${pixels} pixels in the median

| method | finds nothing in | error of the mean: median, 95 of 100 | of the total: median, 95 of 100 | ms |
|---|---|---|---|---|
${rows.join('\n')}`
}

function errors(method: Method, middle: number, most: number): string {
  return method === 'exact' ? 'by definition none' : `${percent(middle)}, ${percent(most)}`
}

/** Below it, what is left is rounding. */
const LEAST_PERCENT = 0.00001

function percent(part: number): string {
  if (100 * part < LEAST_PERCENT) return part === 0 ? '0' : `below ${LEAST_PERCENT} %`
  return `${100 * part >= 10 ? Math.round(100 * part) : Number((100 * part).toPrecision(2))} %`
}
