import { figure } from '../limits.ts'
import type {
  BatchResult,
  GrowthResult,
  HistoryResult,
  PointsResult,
  PolygonsResult,
  Results,
  Spread,
  Target,
} from '../results.ts'
import { type BarChart, drawBarChart } from './bar-chart.ts'
import { TARGET_NAMES } from './tables.ts'

const TARGETS: Target[] = ['bare', 'one-query', 'one-query-own-tiles', 'memory', 'no-cache']

/** The charts of what was measured, as SVG documents, by the names of their files. */
export function drawCharts({
  points,
  batch,
  polygons,
  growth,
  history,
  embedded,
}: Results): Map<string, string> {
  const charts = new Map<string, BarChart>()
  if (points) {
    charts.set('points-uniform.svg', ratesChart(points, 'uniform', 'uniform random points'))
    charts.set('points-zipf.svg', ratesChart(points, 'zipf', '20,000 places by Zipf’s law'))
    charts.set('latency.svg', latencyChart(points))
    charts.set('cold.svg', {
      title: `The first ${points.cold[0]?.seconds} seconds of a new process`,
      valueAxis: 'points a second',
      groupAxis: '64 connections, uniform random points',
      series: TARGETS.map((target) => TARGET_NAMES[target]),
      groups: [
        {
          label: '',
          values: TARGETS.map((target) => points.cold.find((cold) => cold.target === target)?.rate ?? null),
        },
      ],
    })
  }
  if (batch) charts.set('batch.svg', batchChart(batch))
  if (polygons) charts.set('polygons.svg', polygonsChart(polygons))
  if (growth) charts.set('growth.svg', growthChart(growth))
  if (history) charts.set('history.svg', historyChart(history))
  if (embedded) {
    charts.set('embedded.svg', {
      title: 'Points on the embedded database, beside the bare route',
      valueAxis: 'part of the bare route’s points a second',
      groupAxis: 'connections',
      series: ['embedded, tiles in memory'],
      groups: embedded.cells.map(({ connections, rateToBare }) => ({
        label: `${connections}`,
        values: [rateToBare],
      })),
    })
  }
  return new Map([...charts].map(([name, chart]) => [name, drawBarChart(chart)]))
}

function ratesChart(points: PointsResult, spread: Spread, what: string): BarChart {
  return chartOf(points, spread, `Points a second: ${what}`, 'points a second', ({ rate }) => rate)
}

function latencyChart(points: PointsResult): BarChart {
  return chartOf(points, 'uniform', 'The latency that 99 of 100 stay below', 'milliseconds', ({ p99 }) => p99)
}

function chartOf(
  { cells }: PointsResult,
  spread: Spread,
  title: string,
  valueAxis: string,
  of: (cell: PointsResult['cells'][number]) => number,
): BarChart {
  const ofSpread = cells.filter((cell) => cell.spread === spread)
  const connections = [...new Set(ofSpread.map((cell) => cell.connections))]
  return {
    title,
    valueAxis,
    groupAxis: 'connections',
    series: TARGETS.map((target) => TARGET_NAMES[target]),
    groups: connections.map((count) => ({
      label: `${count}`,
      values: TARGETS.map((target) => {
        const cell = ofSpread.find((one) => one.connections === count && one.target === target)
        return cell ? of(cell) : null
      }),
    })),
  }
}

function batchChart({ points, rows: all }: BatchResult): BarChart {
  const rows = all.filter(({ coding }) => coding === 'identity')
  const targets = [...new Set(rows.map(({ target }) => target))]
  return {
    title: `${figure(points)} points in one call`,
    valueAxis: 'points a second',
    groupAxis: 'form',
    series: targets.map((target) => TARGET_NAMES[target]),
    groups: [...new Set(rows.map(({ form }) => form))].map((form) => ({
      label: form,
      values: targets.map(
        (target) => rows.find((row) => row.form === form && row.target === target)?.pointsPerSecond ?? null,
      ),
    })),
  }
}

function polygonsChart({ shapes }: PolygonsResult): BarChart {
  const [area, boundary] = (['area', 'boundary'] as const).map((series) =>
    shapes.filter((shape) => shape.series === series),
  )
  return {
    title: 'Time for a polygon, by its boundary',
    valueAxis: 'milliseconds',
    groupAxis: 'boundary in km of either',
    series: ['larger, same shape', 'longer boundary, same area'],
    groups: (area ?? []).map((shape, index) => {
      const other = boundary?.[index]
      return {
        label: `${figure(shape.boundaryKm)} / ${figure(other?.boundaryKm ?? Number.NaN)}`,
        values: [shape.ms, other?.ms ?? null],
      }
    }),
  }
}

function growthChart({ rows }: GrowthResult): BarChart {
  const kinds = (['memory', 'no-cache'] as const).flatMap((target) =>
    [...new Set(rows.map(({ connections }) => connections))].map((connections) => ({ target, connections })),
  )
  const stages = [...new Set(rows.map(({ tiles }) => tiles))]
  return {
    title: 'How the median latency grows with what is published',
    valueAxis: 'times the first',
    groupAxis: 'releases published, and tiles of all of them',
    series: kinds.map(({ target, connections }) => {
      const where = target === 'memory' ? 'memory' : 'no cache'
      return `${where}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
    }),
    groups: stages.map((tiles) => ({
      label: `${rows.find((row) => row.tiles === tiles)?.releases}, ${figure(tiles)} tiles`,
      values: kinds.map(
        ({ target, connections }) =>
          rows.find((row) => row.tiles === tiles && row.target === target && row.connections === connections)
            ?.growth ?? null,
      ),
    })),
  }
}

/** What is asked has no room under the bars: they are in the order of the table. */
function historyChart({ small, large, rows }: HistoryResult): BarChart {
  return {
    title: `Time with ${figure(large.items)} items in histories, of ${figure(small.items)}`,
    valueAxis: 'times',
    groupAxis: 'what is asked, in the order of the table',
    series: [`${figure(large.items)} items`],
    groups: rows.map(({ times }, index) => ({ label: `${index + 1}`, values: [times] })),
  }
}
