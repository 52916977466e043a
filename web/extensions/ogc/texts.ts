/** How much of each area has values. */
export const coverage = {
  title: 'Coverage',
  why: 'How much of each area has values, and why there are none.',
  level: 'Areas of level',
  everyCountry: 'Every country',
  everyProduct: 'Every product',
  show: 'Show the coverage',
  sofar: (areas: number) => `${areas} areas so far; the first time there is much to compute …`,
  summary: (areas: number, rows: number, empty: number) =>
    `${areas} areas with ${rows} rows, ${empty} of them without any value. Press a heading to sort.`,
  download: 'Download the coverage as CSV',
  caption: 'Coverage by area and release',
  columns: {
    ...{ covered: 'Covered (%)', area: 'Area', country: 'Country', product: 'Product', crop: 'Crop' },
    ...{ month: 'Forecast for', release: 'Release', reason: 'Why it is empty' },
  },
}
