/** Lets Stryker try a sample of the mutants: it has no option for that, but asks checkers which ones are worth a try. */
import { createHash } from 'node:crypto'
import { CheckStatus } from '@stryker-mutator/api/check'
import { commonTokens, declareFactoryPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'

createSample.inject = tokens(commonTokens.options)
function createSample({ sample }) {
  return {
    async init() {},
    /** One group, so that the sample is drawn from all. */
    async group(mutants) {
      return [mutants.map(({ id }) => id)]
    },
    async check(mutants) {
      const drawn = new Set(draw(mutants, sample))
      return Object.fromEntries(
        mutants.map((mutant) => [
          mutant.id,
          drawn.has(mutant)
            ? { status: CheckStatus.Passed }
            : { status: CheckStatus.CompileError, reason: 'not in the sample' },
        ]),
      )
    },
  }
}

/**
 * The first in an order by chance, the same for each run on the same source.
 *
 * @template {Pick<import('@stryker-mutator/api/core').Mutant, 'fileName' | 'location' | 'replacement'>} Change
 * @param {readonly Change[]} changes
 * @param {{ size: number, seed: string }} sample
 * @returns {Change[]}
 */
export function draw(changes, { size, seed }) {
  const ranked = changes.map((change) => {
    const { fileName, location, replacement } = change
    const { line, column } = location.start
    const place = `${fileName.replace(/.*\/(?=src\/)/, '')}:${line}:${column}`
    return { change, rank: createHash('sha256').update(`${seed} ${place} ${replacement}`).digest('hex') }
  })
  const sorted = ranked.toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  return sorted.slice(0, size).map(({ change }) => change)
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.Checker, 'sample', createSample)]
