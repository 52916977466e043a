import { existsSync, readFileSync } from 'node:fs'
import type { Results } from '../results.ts'
import type { FromBench } from './results.ts'

/** The results of the last run of `npm run bench`. */
const BENCH_RESULTS = new URL('../results/latest.json', import.meta.url)

/**
 * Takes what a full run of the bench has measured, and what is not measured here again.
 *
 * @throws {Error} where there was no full run, or one that left something out
 */
export function fromBench(): FromBench {
  if (!existsSync(BENCH_RESULTS)) throw new Error('run `npm run bench` first, all of it')
  const results: Results = JSON.parse(readFileSync(BENCH_RESULTS, 'utf8'))
  const { at, mode, loadBefore, points, workers, history, memory } = results
  if (mode !== 'full' || !points || !workers || !history || !memory) {
    throw new Error('the last run of `npm run bench` was not a full one')
  }
  return {
    at,
    loadBefore,
    points: points.cells
      .filter(({ spread }) => spread === 'uniform')
      .flatMap(({ target, connections, rate, p50, p99 }) =>
        target === 'memory' || target === 'no-cache' ? [{ target, connections, rate, p50, p99 }] : [],
      ),
    workers: workers.rows.map(({ workers, rate, rateToOne }) => ({ workers, rate, rateToOne })),
    history: { items: history.large.items, gigabytes: history.large.gigabytes },
    memory: { idle: memory.idle, full: memory.full },
  }
}
