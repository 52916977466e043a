// All texts of the pages. Elsewhere there are none: another language is another file like this. A page has its own groups of
// texts alone, and extensions have theirs.
export { account, feedback, history, keys, profile } from './en/account.ts'
export { districts, field, points } from './en/fields.ts'
export { mapTexts } from './en/map.ts'
export { loads, operations, releases, slowCalls } from './en/operations.ts'

/** Texts that several pages have, and those of the map. */
export const TEXTS = {
  name: 'Agricultural advisory service',
  purpose: (offers: string[]) =>
    `Advice on any field, for extension workers, cooperatives and their software: ${offers.join('; ')}.`,
  offer: (products: string, countries: string) => `${products} in ${countries}`,
  countries: (count: number) => `${count} countries`,
  skip: 'Skip to the content',
  nav: {
    label: 'Pages',
    ...{
      map: 'Map',
      field: 'Field',
      points: 'Points',
      districts: 'Districts',
      account: 'Account',
      docs: 'API',
    },
  },
  theme: { label: 'Colours', auto: 'System', light: 'Light', dark: 'Dark' },
  offline: 'You are offline. What was loaded before is still there.',
  busy: (seconds: number) => `The service is busy; trying again in ${seconds} s.`,
  preparing: (seconds: number) =>
    `The service is still preparing. This page goes on by itself; trying again in ${seconds} s.`,
  synthetic: 'Demonstration data, made by a formula. Not advice.',
  demoLoading: (loaded: number, of: number) =>
    `Demonstration data are still being loaded: ${loaded} of ${of} releases are there.`,
  demoLoaded: 'All demonstration data are there now.',
  showAll: 'Show them',
  loading: 'Loading …',
  failed: (why: string) => `This could not be loaded: ${why}`,
  nothingPublished: 'Nothing is published yet.',
  unreachable: 'The service cannot be reached.',
  again: 'Try again',
  from: 'From',
  to: 'To',
  apply: 'Show',
  fillIn: 'fill it in',
  enter: (rule: string) => `enter ${rule}`,
  meaningOf: (season: string) => `Meaning of ${season}`,
  download: 'Download as CSV',
  remove: 'Delete',
  copy: 'Copy',
  copied: 'Copied',
  close: 'Close',
  stop: 'Stop',
  never: 'never',
  sheet: {
    before: 'Back',
    next: 'Next',
    page: (page: number, pages: number) => `Page ${page} of ${pages}`,
    none: 'Nothing to show.',
  },

  products: {
    yield: 'Yield',
    fertilizer: 'Fertilizer',
    isfm: 'Organic inputs',
    forage: 'Forage',
  } as Record<string, string>,

  /** What the areas of a country are called, the largest first. */
  levels: {
    eth: ['Regions', 'Zones', 'Woredas'],
    gha: ['Regions', 'Districts'],
    ken: ['Counties', 'Sub-counties', 'Wards'],
    rwa: ['Provinces', 'Districts', 'Sectors'],
  } as Record<string, string[]>,
  level: (level: number) => `Level ${level}`,

  choosers: {
    title: 'What to show',
    product: 'Advice on',
    country: 'Country',
    crop: 'Crop',
    month: 'Forecast for',
    input: 'Input',
    scenario: 'Season',
    condition: 'Condition',
    /** The condition of each place. */
    byPlace: 'Of each place',
    compare: 'Compare with',
    nothing: 'Nothing',
    otherRelease: (month: string) => `The forecast for ${month}`,
    opacity: 'Opacity',
    cut: 'Classes',
    cuts: { quantiles: 'Equal area', equal: 'Equal width' },
    mode: 'Show it as',
    map: 'Map',
    table: 'Table',
  },

  odds: {
    mostLikely: 'Most likely season',
    of: (scenario: string) => `Odds: ${scenario}`,
    unit: '%',
    years: (count: number) => (count === 0 ? 'less than 1 of 10 years' : `${count} of 10 years`),
    almostAll: 'more than 9 of 10 years',
    percent: (percent: string) => `${percent} %`,
    title: 'Odds',
    note: 'How probable the season is.',
    mostLikelyNote: 'The season with the greatest odds.',
  },

  map: {
    label: 'Map. What it shows can also be had as a table, and a place by its name or coordinates.',
    no: 'This browser cannot draw the map (it needs WebGL 2). Everything on it is in the table, and places are found by name or coordinates.',
    failed: 'The map could not be loaded. The table shows the same.',
    swipe: 'Where the two maps meet, in percent from the left',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    latitude: (degrees: string, isSouth: boolean) => `${degrees}° ${isSouth ? 'S' : 'N'}`,
    longitude: (degrees: string, isWest: boolean) => `${degrees}° ${isWest ? 'W' : 'E'}`,
  },

  place: {
    title: 'This place',
    about: 'About this place',
    empty: 'Choose a place on the map, or find one by name: what is known of it is shown here.',
    at: (lat: string, lng: string) => `${lat}, ${lng}`,
    means: 'The values are means of the whole area.',
    coordinates: (lat: string, lng: string) => `Latitude ${lat}, longitude ${lng}`,
    pixel: (across: string, down: string) =>
      `The values are for the square on the map, about ${across} × ${down}.`,
    noValue: 'No value',
    season: 'Season',
    restated: (scenario: string, of: string) => `${scenario} (${of})`,
    value: (unit: string, withRange: boolean) => (withRange ? `${unit}, with its range` : unit),
    range: (low: string, high: string) => `${low} to ${high}`,
    ranged: (levels: string[]) =>
      `The line over a bar is the range: the value lies in it in ${levels.join(' and in ')}.`,
    level: (percent: string, seasons: string) =>
      seasons ? `${percent} of cases (${seasons})` : `${percent} of cases`,
    expectedNote: 'Mean by odds: the mean of the three seasons, each weighted by its odds.',
    byLandscape: 'As on the landscape map',
    ofLandscape: (condition: string) => `As on the landscape map: ${condition}`,
    byDefault: (condition: string) => `Not known: as ${condition}`,
    licence: (licence: string) => `Licence: ${licence}.`,
    source: (source: string, licence: string) => `${source} (${licence})`,
    release: 'Release',
    validUntil: (date: string) => `valid until ${date}`,
    stale: 'This forecast is older than its season.',
    districts: (name: string) => `All areas like ${name} in a table`,
    link: 'Copy a link to this view',
  },

  answer: {
    of: (...parts: string[]) => `${parts.join(', ')}:`,
    normalSeason: 'normal season',
    normal: 'in a normal season',
    season: (scenario: string) => `in the season ${scenario}`,
    inSeason: (input: string, season: string) => `of ${input} ${season}`,
    highest: (input: string, count: number) => `${input}, the highest of ${count}`,
  },

  calls: {
    title: 'Ask for this from a program',
    language: 'Language',
  },
}
