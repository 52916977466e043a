/** Of the map, its legends and tables, and of addresses where no page is: pages of forms do without them. */
export const mapTexts = {
  missing: {
    title: 'There is no such page',
    why: (path: string) => `Nothing is at ${path}. The pages are listed above.`,
  },

  legend: {
    title: 'Legend',
    range: (from: string, to: string) => `${from} – ${to}`,
    quantiles: 'Each class covers about the same area.',
    alike: 'Each class has about as many of them. Grey: no value.',
    equal: 'All classes are equally wide.',
    shared: 'All seasons share these classes.',
    empty: 'This layer has no value anywhere.',
    none: 'No colour: no value.',
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

  quantities: {
    title: 'For an area',
    hectares: 'Area in hectares',
    bag: 'Kilograms in a bag',
    price: (input: string) => `Price of a bag of ${input}`,
    total: 'In all',
    bags: 'Bags',
    cost: 'Cost',
    caption: (product: string, hectares: string) => `${product}, ${hectares} ha`,
    noNumber: (text: string) => `“${text}” is no number above 0.`,
    note: 'The rate times the area; bags are whole ones.',
  },

  table: {
    caption: (layer: string, country: string) => `${layer}, ${country}`,
    level: 'Areas of level',
    area: 'Area',
    within: 'Within',
    note: 'Each value is the mean of the area.',
    progress: (found: number, all: number) => `${found} of ${all} areas`,
    noAreas: 'No boundaries are loaded for this country: ask for a place by its coordinates.',
    notListed: 'This service does not list its areas: ask for a place by its name or coordinates.',
    none: 'none',
  },
}
