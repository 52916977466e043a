/** What admins look at. */
export const operations = {
  title: 'Operations',
  login: 'This is for admins.',
  adminsOnly: 'This is for admins. An operator makes an account one.',
  published: 'Published releases',
  publishedCaption: 'What answers now',
  releaseColumns: {
    release: 'Release',
    ...{ product: 'Product', country: 'Country', crop: 'Crop', month: 'Forecast for' },
    ...{ validUntil: 'Valid until', source: 'Source' },
  },
  usage: 'Usage and errors',
  summary: (
    { from, to }: Record<'from' | 'to', string>,
    { advisories, requests, errors }: Record<'advisories' | 'requests' | 'errors', number>,
    { registered, active }: Record<'registered' | 'active', number>,
  ) =>
    `From ${from} to ${to}: ${requests} requests, ${errors} of them with an error; ${advisories} advisories with a token; ${registered} accounts, ${active} of them active.`,
  byOperation: 'By operation, in milliseconds',
  slowNote: 'Press a heading to sort, once more for the slowest first.',
  byError: 'By error',
  byDay: 'By day, in milliseconds',
  operation: 'Operation',
  day: 'Day',
  code: 'Code',
  status: 'Status',
  requests: 'Requests',
  errors: 'Errors',
  latencies: ['Median', '95 %', '99 %', 'Slowest'],
}

export const slowCalls = {
  title: 'Slowest calls',
  why: (since: string) =>
    `The five slowest of each operation since ${since}, from the arrival of the request to the end of the answer. They are those of the process that has answered this page; others have their own. What clients gave up is not among them. Where each call is logged (ACCESS_LOG), the log tells more of one by its request.`,
  caption: 'Single calls, the slowest first',
  columns: {
    ...{ milliseconds: 'Milliseconds', operation: 'Operation', status: 'Status' },
    ...{ code: 'Code', ended: 'When', request: 'Request' },
  },
}

export const loads = {
  title: 'Incomplete loads',
  why: 'Releases that are being loaded now, and what is left of loads that were cut off. The next load of the same data clears that away.',
  none: 'There are none: all that was loaded is complete.',
  caption: 'Releases that are not complete',
  columns: {
    ...{ release: 'Release', state: 'State', age: 'Begun', begun: 'At' },
    ...{ product: 'Product', country: 'Country', crop: 'Crop', month: 'Forecast for', source: 'Source' },
  },
  states: {
    running: 'is being loaded',
    cut_off: 'interrupted',
    unknown: 'unknown: an older version has begun it',
  },
}

export const releases = {
  title: 'Releases',
  why: 'All that are complete, also those that are not published yet. Press one for its layers.',
  caption: 'All releases',
  state: 'State',
  every: 'All but deleted ones',
  states: {
    unpublished: 'not published yet',
    published: 'published',
    replaced: 'replaced',
    deleted: 'deleted',
  } as Record<string, string>,
  columns: {
    ...{ release: 'Release', state: 'State', from: 'Published from', to: 'Published to' },
    ...{ product: 'Product', country: 'Country', crop: 'Crop', month: 'Forecast for' },
    ...{ source: 'Source', licence: 'Licence' },
  },
  open: (release: string) => `Show ${release}`,
  from: (source: string, licence: string) => `Source: ${source}. Licence: ${licence}.`,
  loaded: (time: string) => `Loaded ${time}.`,
  period: (from: string, to: string | null) =>
    to === null ? `Published since ${from}.` : `Published from ${from} to ${to}.`,
  checksum: 'Checksum:',
  layersOf: (release: string) => `Layers of ${release}`,
  layer: 'Layer',
  unit: 'Unit',
  numbers: ['Pixels', 'Smallest', 'Mean', 'Largest'],
}
