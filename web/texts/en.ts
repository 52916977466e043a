import { account, factor, feedback, history, keys, profile } from './en/account.ts'
import { districts, field, points } from './en/fields.ts'
import { comparison, coverage, loads, operations, releases, slowCalls } from './en/operations.ts'
import { subscriptions } from './en/subscriptions.ts'

/** All texts of the pages. Elsewhere there are none: another language is another file like this. */
export const TEXTS = {
  ...{ account, profile, factor, keys, subscriptions, history, feedback },
  ...{ field, points, districts, operations, comparison, coverage, releases, loads, slowCalls },
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
  synthetic: 'Demonstration data, made by a formula. Not advice.',
  loading: 'Loading …',
  failed: (/** @type {string} */ why) => `This could not be loaded: ${why}`,
  nothingPublished: 'Nothing is published yet.',
  unreachable: 'The service cannot be reached.',
  again: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  close: 'Close',
  never: 'never',
  sheet: {
    before: 'Back',
    next: 'Next',
    page: (/** @type {number} */ page, /** @type {number} */ pages) => `Page ${page} of ${pages}`,
    none: 'Nothing to show.',
  },

  docs: {
    search: 'Find an operation',
    searchHint: 'For example "history" or "polygon"',
    inQuery: (/** @type {number} */ count) =>
      count === 1 ? '1 parameter of the query and headers' : `${count} parameters of the query and headers`,
    server: 'Server',
  },

  products: /** @type {Record<string, string>} */ ({
    yield: 'Yield',
    fertilizer: 'Fertilizer',
    isfm: 'Organic inputs',
    forage: 'Forage',
  }),

  choosers: {
    title: 'What to show',
    product: 'Advice on',
    country: 'Country',
    crop: 'Crop',
    month: 'Forecast for',
    input: 'Input',
    scenario: 'Season',
    compare: 'Compare with',
    nothing: 'Nothing',
    otherScenario: (/** @type {string} */ scenario) => `${scenario}`,
    otherRelease: (/** @type {string} */ month) => `The forecast for ${month}`,
    opacity: 'Opacity',
    cut: 'Classes',
    cuts: { quantiles: 'Equal area', equal: 'Equal width' },
    mode: 'Show it as',
    map: 'Map',
    table: 'Table',
  },

  legend: {
    title: 'Legend',
    range: (/** @type {string} */ from, /** @type {string} */ to) => `${from} – ${to}`,
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
    none: (/** @type {string} */ wanted) => `No area is called “${wanted}”.`,
    results: (/** @type {number} */ count) => (count === 1 ? '1 area' : `${count} areas`),
    near: (/** @type {string} */ wanted) => `No area is called “${wanted}”. Similar names:`,
    within: (/** @type {string[]} */ ...names) => names.join(', '),
  },

  place: {
    title: 'This place',
    empty: 'Choose a place on the map, or find one by name: what is known of it is shown here.',
    at: (/** @type {string} */ lat, /** @type {string} */ lng) => `${lat}, ${lng}`,
    coordinates: (/** @type {string} */ lat, /** @type {string} */ lng) =>
      `Latitude ${lat}, longitude ${lng}`,
    pixel: (/** @type {number} */ across, /** @type {number} */ down) =>
      `The outline on the map is the pixel that answers: about ${across} × ${down} m.`,
    noValue: 'No value',
    season: 'Season',
    licence: (/** @type {string} */ licence) => `Licence: ${licence}.`,
    source: (/** @type {string} */ source, /** @type {string} */ licence) => `${source} (${licence})`,
    release: 'Release',
    validUntil: (/** @type {string} */ date) => `valid until ${date}`,
    stale: 'This forecast is older than its season.',
    districts: (/** @type {string} */ name) => `All areas like ${name} in a table`,
    link: 'Copy a link to this view',
    found: (/** @type {string} */ name) => `Values at ${name}`,
  },

  quantities: {
    title: 'For an area',
    hectares: 'Area in hectares',
    bag: 'Kilograms in a bag',
    price: (/** @type {string} */ input) => `Price of a bag of ${input}`,
    input: 'Input',
    season: 'Season',
    total: 'In all',
    bags: 'Bags',
    cost: 'Cost',
    note: 'The rate times the area; bags are whole ones.',
  },

  calls: {
    title: 'Ask for this from a program',
    language: 'Language',
  },

  table: {
    title: 'As a table',
    caption: (/** @type {string} */ layer, /** @type {string} */ country) => `${layer}, ${country}`,
    level: 'Areas of level',
    area: 'Area',
    within: 'Within',
    note: 'Each value is the mean of the area.',
    progress: (/** @type {number} */ found, /** @type {number} */ all) => `${found} of ${all} areas`,
    sort: (/** @type {string} */ column) => `Sort by ${column}`,
    download: 'Download as CSV',
    noAreas: 'No boundaries are loaded for this country: ask for a place by its coordinates.',
    none: 'none',
    open: (/** @type {string} */ area) => `Show ${area}`,
  },
}
