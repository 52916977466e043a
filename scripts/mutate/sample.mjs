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
      const drawn = new Set(
        mutants.toSorted((one, other) => compare(rankOf(one), rankOf(other))).slice(0, sample.size),
      )
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

  /** An order by chance, the same for each run on the same source. */
  function rankOf({ fileName, location, replacement }) {
    const { line, column } = location.start
    const place = `${fileName.replace(/.*\/(?=src\/)/, '')}:${line}:${column}`
    return createHash('sha256').update(`${sample.seed} ${place} ${replacement}`).digest('hex')
  }
}

function compare(one, other) {
  return one < other ? -1 : 1
}

export const strykerPlugins = [declareFactoryPlugin(PluginKind.Checker, 'sample', createSample)]
