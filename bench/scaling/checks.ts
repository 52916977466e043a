import { coefficientsOf, coreSecondsOf, isReference, REFERENCE } from './coefficients.ts'
import { closedLoopMs, coldOf, hitRatio, readsOfEachBlock, residentMiB } from './requests-model.ts'
import type { LoadRow, ScalingResults } from './results.ts'
import { storageOf } from './storage-model.ts'
import { countText } from './units.ts'

/** What the model says of something that was measured, and that it was not made from. */
export interface Check {
  what: string
  unit: string
  measured: number
  modelled: number
  /** How far off the model may be, as a part of what was measured. */
  tolerance: number
}

/** Bytes are what they are; computing takes longer where other work takes caches and clock from it. */
const OF_BYTES = 0.1
/** With one layer, what a tile takes beside its pixels is not shared by eight. */
const OF_FEW_LAYERS = 0.25
const OF_LOG = 0.1
const OF_COMPUTING = 0.5
const OF_MEMORY = 0.15
const OF_HITS = 0.1
const OF_LATENCY = 0.25
const OF_READS = 0.01

/** The default of TILE_CACHE_MB. */
const USUAL_CACHE_MB = 256

/** All of them. */
export function checksOf(results: ScalingResults): Check[] {
  return [
    ...loadChecks(results),
    ...computingChecks(results),
    ...memoryChecks(results),
    ...pointChecks(results),
  ]
}

/** How far off, as a part of what was measured. */
export function errorOf({ measured, modelled }: Check): number {
  return Math.abs(modelled / measured - 1)
}

function loadChecks(results: ScalingResults): Check[] {
  const coefficients = coefficientsOf(results)
  const others = results.loads.filter((row) => !isReference(row))
  return others.flatMap((row) => {
    if (row.content === 'published') return []
    const dataset = { content: row.content, pixels: row.pixels, layers: row.layers }
    const modelled = storageOf(dataset, row.store, coefficients, results.rows)
    const few = row.layers < 8
    const what = `${row.content}, ${countText(row.pixels)} pixels, ${row.layers} ${few ? 'layer' : 'layers'}, ${row.store}`
    const bytes = few ? OF_FEW_LAYERS : OF_BYTES
    return [
      {
        what: `stored: ${what}`,
        unit: 'MB',
        measured: storedBytesOf(row) / 1e6,
        modelled: (modelled.databaseBytes - modelled.granuleRowBytes + modelled.fileBytes) / 1e6,
        tolerance: bytes,
      },
      {
        what: `log: ${what}`,
        unit: 'MB',
        measured: row.walBytes / 1e6,
        modelled: modelled.walBytes / 1e6,
        tolerance: few ? OF_FEW_LAYERS : OF_LOG,
      },
    ]
  })
}

/** Of those that are large enough: a process that begins computes for itself. */
function computingChecks(results: ScalingResults): Check[] {
  const coefficients = coefficientsOf(results)
  return results.loads.flatMap((row) => {
    const { content, pixels, layers, store } = row
    if (content === 'published' || layers !== REFERENCE.layers || pixels <= REFERENCE.pixels) return []
    const modelled = storageOf({ content, pixels, layers }, store, coefficients, results.rows)
    return [
      {
        what: `computing: ${content}, ${countText(pixels)} pixels, ${store}`,
        unit: 's',
        measured: coreSecondsOf(row),
        modelled: modelled.coreSeconds,
        tolerance: OF_COMPUTING,
      },
    ]
  })
}

/** Pixels and summaries, wherever they are; few rows about granules take as much as many. */
export function storedBytesOf(row: LoadRow): number {
  const { store, tileBytes, tileIndexBytes, summaryBytes, fileBytes } = row
  return store === 'files' ? summaryBytes + fileBytes : tileBytes + tileIndexBytes + summaryBytes
}

function memoryChecks({ memory, bench }: ScalingResults): Check[] {
  const withCache = memory.filter(({ tileCacheMB }) => tileCacheMB > 0)
  const resident = withCache.map(({ tileCacheMB, residentMiB: measured }) => ({
    what: `memory of a process, TILE_CACHE_MB=${tileCacheMB}`,
    unit: 'MiB',
    measured,
    modelled: residentMiB(memory, tileCacheMB),
    tolerance: OF_MEMORY,
  }))
  const found = withCache.map(({ tileCacheMB, tiles, places, hitRatio: measured }) => ({
    what: `tiles found in memory, of ${places} by Zipf's law, TILE_CACHE_MB=${tileCacheMB}`,
    unit: '%',
    measured: 100 * measured,
    modelled: 100 * hitRatio(places, tiles),
    tolerance: OF_HITS,
  }))
  const usual = {
    what: `memory of a process, TILE_CACHE_MB=${USUAL_CACHE_MB}, full run of the bench`,
    unit: 'MiB',
    measured: bench.memory.full,
    modelled: residentMiB(memory, USUAL_CACHE_MB),
    tolerance: OF_MEMORY,
  }
  return [...resident, usual, ...found]
}

function pointChecks(results: ScalingResults): Check[] {
  const busy = results.bench.points.filter(({ connections }) => connections > 1)
  return [
    ...busy.map(({ target, connections, rate, p50 }) => ({
      what: `median of points, ${target}, ${connections} connections (Little)`,
      unit: 'ms',
      measured: p50,
      modelled: closedLoopMs(connections, rate),
      tolerance: OF_LATENCY,
    })),
    {
      what: 'reads of files for a point, where every block is asked for once',
      unit: '',
      measured: coldOf(results, 'web', 1).reads ?? 0,
      modelled: readsOfEachBlock(),
      tolerance: OF_READS,
    },
  ]
}
