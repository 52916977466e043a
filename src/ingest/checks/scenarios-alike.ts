import { type Check, layersOf, type ReadFacts } from './facts.ts'

/** Inputs of which each scenario has the same values: one file was probably given for all of them. */
export const scenariosAlike: Check<ReadFacts> = (release) =>
  release.alikeInputs.map((input) => {
    const scenarios = layersOf(release)
      .filter((layer) => layer.input === input)
      .map(({ scenario }) => scenario)
    return {
      check: 'scenarios-alike',
      level: 'error',
      sentence: `All ${scenarios.length} scenarios${input === null ? '' : ` of ${input}`} have the same values (${scenarios.join(', ')}): is each layer of its own file or band?`,
      figures: { input, scenarios: scenarios.length },
    }
  })
