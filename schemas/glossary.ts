/**
 * What the words of the answers mean, as far as it is known: the catalog and the document say the same. What
 * only the source of a release knows is not guessed.
 */

/** The scenarios that releases are usually for, in the order of answers. Sources may publish others. */
export const SCENARIOS: readonly { scenario: string; description: string }[] = [
  {
    scenario: 'Above Normal',
    description:
      'The season turns out above normal: in the upper third (tercile) of past seasons, as seasonal outlooks count them. What is measured, rainfall as a rule, is as published by the source.',
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

export const FORECAST_MONTH =
  'The month that the forecast is for. How it stands to the season that the scenarios are about, sowing or harvest, is as published by the source.'

const SEASON =
  'The growing season that a forecast is about. Which months it has in a country, and which past seasons it is compared with, is as published by the source.'

export const RESOLUTION =
  'How large a pixel of a grid is. The answer for a point is the value of the pixel that it lies in, so nothing smaller than a pixel can be told apart.'

export const SYNTHETIC = 'Whether the release is demonstration data, made by a formula. Not advice.'

export const LOSSY =
  'Only there, and true, where the release is made of rasters that were compressed with loss, such as JPEG: values may differ from those of its source.'

export const STALE =
  'Only there, and true, where the release is older than its season: until when it is valid is as published by the source, or else the end of the month a year after that of the forecast. Demonstration data never are.'

/** Words that no list has; the names are those of members of answers, where there is one. */
export const GLOSSARY: readonly { term: string; description: string }[] = [
  { term: 'forecast_month', description: FORECAST_MONTH },
  { term: 'season', description: SEASON },
  { term: 'resolution', description: RESOLUTION },
  { term: 'synthetic', description: SYNTHETIC },
  { term: 'stale', description: STALE },
]
