/** The meanings of words in answers, for the catalog and the document. No meaning is guessed. */

/** The scenarios that releases are usually for, in the order of answers. Sources may publish others. */
export const SCENARIOS: readonly { scenario: string; description: string }[] = [
  {
    scenario: 'Above Normal',
    description:
      'The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. The source publishes the measure, rainfall as a rule.',
  },
  {
    scenario: 'Normal',
    description: 'The season turns out normal: in the middle third of past seasons.',
  },
  {
    scenario: 'Below Normal',
    description: 'The season turns out below normal: in the lower third of past seasons.',
  },
  {
    scenario: 'Dominant',
    description:
      'The most likely of the other three seasons at each place. Each pixel has the value of that season; the mean of an area may mix several. The source of the release decides which season is most likely.',
  },
]

/** The scenarios that restate a season which another one is about: beside the others they have no weight. */
export const RESTATING_SCENARIOS: readonly string[] = ['Dominant']

/** The scenarios that one of each season is: their odds sum to 1. From the best season to the worst. */
export const SEASONS: readonly string[] = SCENARIOS.map(({ scenario }) => scenario).filter(
  (scenario) => !RESTATING_SCENARIOS.includes(scenario),
)

export const FORECAST_MONTH =
  'The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source.'

const SEASON =
  'The growing season that a forecast is about. Which months it has in a country, and which past seasons it is compared with, is as published by the source.'

export const RESOLUTION =
  'The size of a pixel. A point has the value of its pixel, so answers cannot tell places within a pixel apart.'

export const SYNTHETIC = 'Whether the release is demonstration data, made by a formula. Not advice.'

export const LOSSY =
  'True where its rasters were compressed with loss, such as JPEG, else left out: values may differ from the source.'

export const STALE =
  'True where the release is older than its season, else left out. The source publishes the end of validity; by default it is a year after the forecast month. Demonstration data are never stale.'

/** Words that no list has; the names are those of members of answers, where there is one. */
export const GLOSSARY: readonly { term: string; description: string }[] = [
  { term: 'forecast_month', description: FORECAST_MONTH },
  { term: 'season', description: SEASON },
  { term: 'resolution', description: RESOLUTION },
  { term: 'synthetic', description: SYNTHETIC },
  { term: 'stale', description: STALE },
]
