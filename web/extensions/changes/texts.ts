/** What a release changes. */
export const comparison = {
  title: 'What a release changes',
  why: 'Compare a release with the one that answers now, before it is published.',
  after: 'Release',
  asAfter: 'Compare this release',
  asBefore: 'Compare another one with it',
  afterHint: 'Published or only loaded: its code, as the load has printed it.',
  before: 'Compared with',
  threshold: 'Counts as changed from (%)',
  compare: 'Compare',
  layers: 'All areas together',
  worst: 'Areas that change most',
  all: 'all',
  columns: {
    ...{ area: 'Area', layer: 'Layer', before: 'Mean before', after: 'Mean after', change: 'Change (%)' },
    ...{ changed: 'Changed (% of area)', gained: 'Gained (%)', lost: 'Lost (%)' },
  },
}
