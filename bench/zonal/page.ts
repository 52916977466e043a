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
  return `# Statistics of polygons: accuracy and time

Made by \`node bin/run.mjs bench/zonal/run.ts --report\` on ${at.slice(0, 10)} from its [results](zonal-statistics/results.json). ${machine}. The machine had other work: compare times with each other.

Polygons: ${sizes.map(({ name, polygons }) => `${polygons} of ${name}`).join(', ')}. Data: ${data}.

- **${NAMES.exact}** (the reference, without code of the service): polyclip-ts cuts border pixels. Parts weigh by their area on the WGS 84 ellipsoid.
- **${NAMES.centres}**: pixels whose centre lies inside count whole, as in rasterio; in memory.
- **${NAMES.st_clip}**: \`ST_SummaryStatsAgg(ST_Clip(...))\` on the service's tiles with a GiST index; eight layers.
- **${NAMES.service}**: \`POST /advisory/fertilizer\` with a token over HTTP, uncached, eight layers, validity and history included. Hectares and percentages have four decimals, which limits the accuracy of totals.

exactextract weighs pixels as the service does; it was not measured. Squares have any angle and lie around points with a value. A district is a star of nine spikes of 33 km, a pixel has about nine hectares.

Each cell has the error of the mean, the error of the total, and the time in ms. Errors are the median and 95th percentile in per cent. In brackets: polygons in which a method finds nothing.

| polygons | ${COMPARED.map((method) => NAMES[method]).join(' | ')} | ${NAMES.exact} |
|---|${'---|'.repeat(COMPARED.length + 1)}
${sizes.map(rowOf).join('\n')}

![the error of the mean](zonal-statistics/mean-error.svg)

![the error of the total](zonal-statistics/total-error.svg)

![how long it takes](zonal-statistics/time.svg)
`
}

function rowOf(size: SizeResult): string {
  const cells = COMPARED.map((method) => {
    const { missed, meanError, meanError95, totalError, totalError95, ms } = resultOf(size, method)
    const errors = `${percent(meanError)}, ${percent(meanError95)}; ${percent(totalError)}, ${percent(totalError95)}; ${figure(ms)}`
    return missed > 0 ? `${errors} (${percent(missed)} %)` : errors
  })
  return `| ${[size.name, ...cells, figure(resultOf(size, 'exact').ms)].join(' | ')} |`
}

/** Below it, what is left is rounding. */
const LEAST_PERCENT = 0.00001

function percent(part: number): string {
  if (100 * part < LEAST_PERCENT) return part === 0 ? '0' : `<${LEAST_PERCENT}`
  return `${100 * part >= 10 ? Math.round(100 * part) : Number((100 * part).toPrecision(2))}`
}
