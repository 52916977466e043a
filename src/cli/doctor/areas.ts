import { LEVELS_BELOW } from '#schemas/areas.ts'
import { listCountryEntries } from '#src/domains/reference/queries.ts'
import type { Group, Patient } from './examination.ts'
import { note, ok, warning } from './finding.ts'

/** The boundaries that countries have. */
export const areas: Group<Patient> = {
  group: 'areas',
  questions: {
    boundaries: async ({ ask }) => {
      const countries = await ask(listCountryEntries)
      const lacking = (level: number) =>
        countries.filter(({ levels }) => !levels.includes(level)).map(({ name }) => name)
      const outlines = lacking(0)
      const below = LEVELS_BELOW.map((level) => ({ level, names: lacking(level) })).filter(
        ({ names }) => names.length > 0,
      )
      const advice = 'Load them with `agro boundaries`.'
      const findings = [
        ...(outlines.length > 0
          ? [
              warning(
                `These countries have no outline, so that nothing is known to lie outside of them: ${outlines.join(', ')}.`,
                advice,
              ),
            ]
          : []),
        ...below.map(({ level, names }) =>
          note(`These countries have no areas of level ${level}: ${names.join(', ')}.`, advice),
        ),
      ]
      return findings.length > 0
        ? findings
        : [ok(`All ${countries.length} countries have boundaries of all levels.`)]
    },
  },
}
