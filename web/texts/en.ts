// All texts of the pages. Elsewhere there are none: another language is another file like this. A page has its own groups of
// texts alone, and extensions have theirs.
export { account, feedback, history, keys, profile } from './en/account.ts'
export { districts, field, points } from './en/fields.ts'
export { loads, operations, releases, slowCalls } from './en/operations.ts'

/** Texts that several pages have, and those of the map. */
export const TEXTS = {
  name: 'Agricultural advisory service',
  skip: 'Skip to the content',
  nav: {
    label: 'Pages',
    map: 'Map',
    field: 'Field',
    points: 'Points',
    districts: 'Districts',
    account: 'Account',
    docs: 'API',
  },
  theme: { label: 'Colours', auto: 'System', light: 'Light', dark: 'Dark' },
  offline: 'You are offline. What was loaded before is still there.',
  busy: (seconds: number) => `The service is busy; trying again in ${seconds} s.`,
  synthetic: 'Demonstration data, made by a formula. Not advice.',
  demoLoading: (loaded: number, of: number) =>
    `They are still being loaded: ${loaded} of ${of} releases are there. Load the page again for more.`,
  loading: 'Loading …',
  failed: (why: string) => `This could not be loaded: ${why}`,
  nothingPublished: 'Nothing is published yet.',
  unreachable: 'The service cannot be reached.',
  again: 'Try again',
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

  docs: {
    search: 'Find an operation',
    searchHint: 'For example "history" or "polygon"',
    inQuery: (count: number) =>
      count === 1 ? '1 parameter of the query and headers' : `${count} parameters of the query and headers`,
    server: 'Server',
  },

  products: {
    yield: 'Yield',
    fertilizer: 'Fertilizer',
    isfm: 'Organic inputs',
    forage: 'Forage',
  } as Record<string, string>,

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
    otherScenario: (scenario: string) => `${scenario}`,
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

  legend: {
    title: 'Legend',
    range: (from: string, to: string) => `${from} – ${to}`,
    quantiles: 'Each class covers about the same area.',
    equal: 'All classes are equally wide.',
    shared: 'All seasons share these classes.',
    empty: 'This layer has no value anywhere.',
    score: 'score',
    none: 'No colour: no value.',
  },

  map: {
    label: 'Map. What it shows can also be had as a table, and a place by its name or coordinates.',
    no: 'This browser cannot draw the map (it needs WebGL 2). Everything on it is in the table, and places are found by name or coordinates.',
    failed: 'The map could not be loaded. The table shows the same.',
    left: 'Left',
    right: 'Right',
    swipe: 'Where the two maps meet, in percent from the left',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
  },

  search: {
    title: 'Find a place',
    label: 'Area or coordinates',
    hint: 'Name or 9.5, 38.5',
    submit: 'Find',
    none: (wanted: string) => `No area is called “${wanted}”. A position is such as 9.5, 38.5.`,
    results: (count: number) => (count === 1 ? '1 area' : `${count} areas: choose one`),
    near: (wanted: string) => `No area is called “${wanted}”. Similar names:`,
    within: (...names: string[]) => names.join(', '),
  },

  place: {
    title: 'This place',
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
    found: (name: string) => `Values at ${name}`,
  },

  quantities: {
    title: 'For an area',
    hectares: 'Area in hectares',
    bag: 'Kilograms in a bag',
    price: (input: string) => `Price of a bag of ${input}`,
    input: 'Input',
    season: 'Season',
    condition: 'Condition',
    total: 'In all',
    bags: 'Bags',
    cost: 'Cost',
    caption: (product: string, hectares: string) => `${product}, ${hectares} ha`,
    noNumber: (text: string) => `“${text}” is no number above 0.`,
    note: 'The rate times the area; bags are whole ones.',
  },

  calls: {
    title: 'Ask for this from a program',
    language: 'Language',
  },

  table: {
    title: 'As a table',
    caption: (layer: string, country: string) => `${layer}, ${country}`,
    level: 'Areas of level',
    area: 'Area',
    within: 'Within',
    note: 'Each value is the mean of the area.',
    progress: (found: number, all: number) => `${found} of ${all} areas`,
    sort: (column: string) => `Sort by ${column}`,
    download: 'Download as CSV',
    noAreas: 'No boundaries are loaded for this country: ask for a place by its coordinates.',
    notListed: 'This service does not list its areas: ask for a place by its name or coordinates.',
    none: 'none',
    open: (area: string) => `Show ${area}`,
  },
}
