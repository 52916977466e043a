import { type BarChart, drawBarChart } from '../report/bar-chart.ts'
import { storedBytesOf } from './checks.ts'
import { coreSecondsOf } from './coefficients.ts'
import { storageIn } from './modelled-tables.ts'
import { hitRatio } from './requests-model.ts'
import { CONTENTS, type ScalingResults, STORES, type Store } from './results.ts'
import { SCENARIOS } from './scenarios.ts'
import { countText } from './units.ts'

const STORE_NAMES: Record<Store, string> = { postgis: 'PostgreSQL', files: 'files' }

/** The charts, as SVG documents, by the names of their files. */
export function drawScalingCharts(results: ScalingResults): Map<string, string> {
  const charts: Record<string, BarChart> = {
    'stored.svg': growthChart(
      results,
      'What a pixel and layer takes, by the size of the raster (measured)',
      'bytes',
      (load) => storedBytesOf(load) / (load.pixels * load.layers),
    ),
    'load.svg': growthChart(
      results,
      'What is computed to load a million pixels of eight layers (measured)',
      'seconds of a core',
      (load) => (1e6 * coreSecondsOf(load)) / load.pixels,
    ),
    'found.svg': {
      title: 'Tiles found in memory, by Zipf’s law',
      valueAxis: 'per cent of the points',
      groupAxis: 'TILE_CACHE_MB',
      series: ['measured', 'modelled'],
      groups: results.memory
        .filter(({ tileCacheMB }) => tileCacheMB > 0)
        .map(({ tileCacheMB, tiles, places, hitRatio: found }) => ({
          label: `${tileCacheMB}`,
          values: [100 * found, 100 * hitRatio(places, tiles)],
        })),
    },
    'africa.svg': africaChart(results),
  }
  return new Map(Object.entries(charts).map(([name, chart]) => [name, drawBarChart(chart)]))
}

function growthChart(
  { loads }: ScalingResults,
  title: string,
  valueAxis: string,
  of: (load: ScalingResults['loads'][number]) => number,
): BarChart {
  const whole = loads.filter(({ layers }) => layers === 8)
  const sizes = [...new Set(whole.map(({ pixels }) => pixels))]
  return {
    title,
    valueAxis,
    groupAxis: 'what is loaded, and where; bars from the smallest raster to the largest',
    series: sizes.map((pixels) => `${countText(pixels)} pixels`),
    groups: CONTENTS.flatMap((content) =>
      STORES.map((store) => ({
        label: `${content}, ${STORE_NAMES[store]}`,
        values: sizes.map((pixels) => {
          const found = whole.find(
            (load) => load.content === content && load.store === store && load.pixels === pixels,
          )
          return found ? of(found) : null
        }),
      })),
    ),
  }
}

/** What is in PostgreSQL and in files, of each content. */
function africaChart(results: ScalingResults): BarChart {
  const ofAfrica = SCENARIOS.filter(({ name }) => name.startsWith('Africa'))
  return {
    title: 'Africa at 30 m, eight layers: one release (modelled)',
    valueAxis: 'terabytes',
    groupAxis: 'content, and where the tiles are',
    series: ['in PostgreSQL, each member', 'in files'],
    groups: ofAfrica.map((scenario) => {
      const { databaseBytes, fileBytes } = storageIn(results, scenario)
      return {
        label: `${scenario.dataset.content}, ${STORE_NAMES[scenario.store]}`,
        values: [databaseBytes / 1e12, fileBytes > 0 ? fileBytes / 1e12 : null],
      }
    }),
  }
}
