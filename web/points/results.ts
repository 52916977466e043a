import type { Catalog, CatalogProduct } from '../api-types.ts'
import { short } from '../geo/areas.ts'
import type { FeaturesMap } from '../map/features-map.ts'
import { type Class, classesOf, colorIn, legendOf } from '../map/legend.ts'
import { save, syntheticNotice } from '../parts/blocks.ts'
import { csvText, type Point, type Writing } from '../parts/csv.ts'
import { tableOf } from '../parts/table.ts'
import { seasonNote, valueColumns, valueFormat } from '../parts/values.ts'
import { chooser, element, optionsOf } from '../shell/element.ts'
import { mapTexts, points, TEXTS } from '../texts/en.ts'
import { nameOfProduct } from '../texts/names.ts'
import type { Answer } from './batches.ts'

/** A row that is answered. */
export interface Done {
  point: Point
  answer: Answer
  values: Map<string, number>
  record: string[]
}

interface Work {
  header: string[]
  /** As the file was written that the points are of. */
  writing: Writing
  done: Done[]
  product: CatalogProduct
  catalog: Catalog
}

/** The result of a file: a table, a map, and the file with the values behind. */
export function resultsOf(
  { header, writing, done, product, catalog }: Work,
  map: FeaturesMap | null,
  mapCard: HTMLElement,
) {
  const names = valueColumns(done.map(({ values }) => values))
  let shown = names[0] ?? ''
  const key = element('div', { class: 'legends' })
  const draw = () => {
    const classes = classesOf(done.flatMap(({ values }) => values.get(shown) ?? []))
    const title = [nameOfProduct(product.product), shown].filter(Boolean).join(', ')
    key.replaceChildren(legendOf({ title, unit: product.unit, classes, note: mapTexts.legend.alike }))
    void map?.show(featuresOf(done, shown, classes))
  }
  const choose = (value: string) => {
    shown = value
    draw()
  }
  const text = valueFormat(done.flatMap(({ values }) => [...values.values()]))
  const isWhole = done.every(({ answer }) => answer.error === undefined)
  const degrees = (value: number) => String(short(value))
  const table = tableOf({
    caption: points.caption(product.unit),
    columns: [
      { title: points.columns.id },
      { title: points.columns.name },
      ...names.map((title) => ({ title: title || product.unit, number: true, text })),
      { title: points.columns.lat, number: true, text: degrees },
      { title: points.columns.lng, number: true, text: degrees },
      ...(isWhole ? [] : [{ title: points.reason }]),
    ],
    rows: done.map(({ point, answer, values }) => ({
      cells: [
        ...[point.id, point.name, ...names.map((name) => values.get(name)), point.lat, point.lng],
        ...(isWhole ? [] : [answer.error]),
      ],
      mark: answer.error === undefined ? '' : 'wrong',
    })),
    rowsAPage: 25,
  })
  const download = element('button', { type: 'button', class: 'primary' }, TEXTS.download)
  download.addEventListener('click', () =>
    save(csvText(fileRows(header, done, names, product), writing), 'advice.csv'),
  )
  mapCard.hidden = map === null
  const choosers = names.length > 1 ? [chooser(points.shown, 'shown', optionsOf(names), shown, choose)] : []
  if (map) mapCard.replaceChildren(...choosers, map.place, key)
  draw()
  return element(
    'section',
    { class: 'card' },
    syntheticNotice(done.some(({ answer }) => answer.synthetic === true)),
    element('div', { class: 'actions' }, download),
    seasonNote(catalog, names.join(', ').split(', ')),
    table,
  )
}

function featuresOf(done: Done[], shown: string, classes: Class[]) {
  return done.flatMap(({ point, answer, values }) => {
    const value = values.get(shown)
    const { lat, lng } = answer.location ?? point
    if (typeof lat !== 'number' || typeof lng !== 'number') return []
    return {
      type: 'Feature' as const,
      geometry: { type: 'Point' as const, coordinates: [lng, lat] },
      properties: { color: colorIn(classes, value) },
    }
  })
}

/** The file as it was, with the values behind. */
function fileRows(header: string[], done: Done[], names: string[], { value }: CatalogProduct) {
  const added = [
    ...names.map((name) => `${value.key} ${name}`.trim()),
    ...['release', 'synthetic', 'error', 'code'],
  ]
  const rows = done.map(({ record, answer, values }) => [
    ...header.map((_, place) => record[place]),
    ...names.map((name) => values.get(name)),
    ...[answer.release, answer.synthetic, answer.error, answer.code],
  ])
  return [[...header, ...added], ...rows]
}
