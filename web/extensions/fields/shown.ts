import type { Catalog, CatalogProduct, CatalogRelease, Position, Tileset } from '../../api-types.ts'
import { type LayerLabels, labelsOf, layerChoosers } from '../../districts/shown.ts'
import type { Feature, FeaturesMap } from '../../map/features-map.ts'
import { classesOf, colorIn, legendOf } from '../../map/legend.ts'
import { progressBar, save, workButton } from '../../parts/blocks.ts'
import { layerOf } from '../../parts/choices.ts'
import { pauses } from '../../parts/csv.ts'
import type { Session } from '../../parts/session.ts'
import { fieldText, type Shape } from '../../parts/shape.ts'
import { tableOf } from '../../parts/table.ts'
import {
  amountFormat,
  areaText,
  seasonNote,
  valueColumns,
  valueFormat,
  valuesOf,
} from '../../parts/values.ts'
import type { Query } from '../../shell/api.ts'
import { button, element } from '../../shell/element.ts'
import { mapTexts, points, TEXTS } from '../../texts/en.ts'
import { nameOfLayer, numberText } from '../../texts/names.ts'
import { savedFields } from './texts.ts'

/** A field as it is stored. */
export interface FieldShape {
  id: string
  geometry: Shape
}

/** What the service says of a field. */
interface Answer {
  id: string
  location: { name: string; lat: number; lng: number; area_ha: number } | undefined
  error: string | undefined
}

/** The same, of which the values are read. */
type Found = Answer & { values: Map<string, number> }

/** The fields of a collection, and the release that answers. */
export interface Source {
  session: Session
  collection: string
  catalog: Catalog
  product: CatalogProduct
  release: CatalogRelease
  left: AbortSignal
}

/** The fields on a map, coloured by a layer that is chosen, and all values in a table, as they come. */
export function fieldsShown(
  source: Source & { tilesets: Tileset[]; shapes: FieldShape[] },
  view: LayerLabels,
  map: FeaturesMap | null,
  keep: (chosen: LayerLabels) => void,
) {
  const { release, tilesets, shapes } = source
  let { layer, ...offered } = layerOf(tilesets, view)
  /** Of each shape. */
  let found: (Found | undefined)[] = []
  const key = element('div', { class: 'legends' })
  const chosen = element('p', { role: 'status' })
  const progress = element('div')

  const readValue = ({ values }: Found) => layer && values.get(labelOfLayer(layer))

  function choose(wanted: LayerLabels) {
    layer = layerOf(tilesets, wanted).layer
    keep(labelsOf(layer))
    chosen.replaceChildren()
    draw(false)
  }

  /** @param whole whether all fields are to be seen */
  function draw(whole: boolean) {
    const values = found.map((one) => one && readValue(one))
    const classes = classesOf(values.flatMap((value) => value ?? []))
    if (layer) {
      const meaning = { title: nameOfLayer(release.product, layer), unit: layer.unit, classes }
      key.replaceChildren(legendOf({ ...meaning, note: mapTexts.legend.alike }))
    }
    const features = shapes.flatMap((shape, at) =>
      featuresOf(shape, { at, color: colorIn(classes, values[at]) }),
    )
    map?.show(features, whole).catch(() => {})
  }

  /** Shows a field in a line. */
  function describe(at: number) {
    const [shape, one] = [shapes[at], found[at]]
    if (!shape || !one?.location || !layer) return
    const { name, area_ha } = one.location
    const value = readValue(one)
    const { country_code: country, crop } = release
    const outline = fieldText(shape.geometry)
    const wanted = { country, ...(crop !== null && { crop }), name, outline }
    chosen.replaceChildren(
      element('strong', {}, savedFields.chosen(shape.id, name, areaText(area_ha))),
      element('br'),
      value === undefined
        ? (one.error ?? '')
        : savedFields.value(nameOfLayer(release.product, layer), valueFormat([value])(value), layer.unit),
      element('br'),
      element('a', { href: `field#${new URLSearchParams(wanted)}` }, savedFields.report),
    )
  }

  function show(at: number) {
    describe(at)
    const { lat, lng } = found[at]?.location ?? {}
    if (lat === undefined || lng === undefined) return
    map?.mark({ lat, lng }).catch(() => {})
    map?.place.scrollIntoView({ block: 'nearest' })
  }

  draw(true)
  map?.ready.then(
    (drawn) =>
      drawn.on('click', ['feature-fill', 'feature-point'], ({ features }) =>
        describe(features?.[0]?.properties.at),
      ),
    () => {},
  )
  return {
    chosen,
    legend: key,
    progress,
    choosers: layerChoosers({ ...offered, layer }, choose),
    async load() {
      const bar = progressBar({
        label: savedFields.asked,
        most: shapes.length,
        text: (done) => savedFields.answered(numberText(done), numberText(shapes.length)),
      })
      progress.replaceChildren(bar.place)
      const byId = await askAll(source, bar.set).finally(() => progress.replaceChildren())
      found = shapes.map(({ id }) => byId.get(id))
      draw(false)
      return resultsOf(source, found, map && show)
    },
  }
}

/** Asks for the advice on all fields, and reads it as it comes, while the page goes on. */
async function askAll(
  { session, collection, product, release, left }: Source,
  progress: (done: number) => void,
) {
  const found = new Map<string, Found>()
  const pause = pauses()
  let rest = ''
  await session.get(
    `fields/${encodeURIComponent(collection)}/advice`,
    { product: release.product, release: release.release },
    {
      headers: { accept: 'application/x-ndjson' },
      signal: left,
      async onText(piece) {
        const lines = (rest + piece).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const answer: Answer = JSON.parse(line)
          const { id, location, error } = answer
          found.set(id, { id, location, error, values: valuesOf(answer, product) })
          await pause()
        }
        progress(found.size)
      },
    },
  )
  return found
}

/** As entries of answers are called. */
const labelOfLayer = ({ input, scenario, condition }: Tileset) =>
  [input, scenario, condition].filter(Boolean).join(', ')

/** The shape of a field, and a point that stands for it from far away. */
function featuresOf(shape: FieldShape, properties: { at: number; color: string }): Feature[] {
  const point = { type: 'Point' as const, coordinates: cornerOf(shape) }
  return [
    { type: 'Feature', geometry: shape.geometry, properties },
    { type: 'Feature', geometry: point, properties: { ...properties, far: true } },
  ]
}

export function cornerOf({ geometry }: FieldShape): Position {
  const rings = geometry.type === 'Polygon' ? geometry.coordinates : geometry.coordinates[0]
  return rings?.[0]?.[0] as Position
}

/** @param show shows a field on the map; null without one */
function resultsOf(source: Source, found: (Found | undefined)[], show: ((at: number) => void) | null) {
  const { catalog, collection, product, release } = source
  const { columns } = savedFields
  const names = valueColumns(found.flatMap((one) => one?.values ?? []))
  const text = valueFormat(found.flatMap((one) => [...(one?.values.values() ?? [])]))
  const areas = amountFormat(found.map((one) => one?.location?.area_ha))
  const path = `fields/${encodeURIComponent(collection)}/advice`
  const query = { product: release.product, release: release.release }
  const rows = found.flatMap((one, at) => {
    if (!one) return []
    const { id, location, error } = one
    return [
      {
        cells: [id, location?.name, location?.area_ha, ...names.map((name) => one.values.get(name)), error],
        mark: error === undefined ? '' : 'wrong',
        shown: () => [
          show && location ? button(id, () => show(at), 'link', { 'aria-label': savedFields.show(id) }) : id,
        ],
      },
    ]
  })
  return element(
    'div',
    {},
    element(
      'div',
      { class: 'actions' },
      fileButton(source.session, TEXTS.download, { path, query, name: `${collection}.csv` }),
      fileButton(source.session, savedFields.geojson, { path, query, name: `${collection}.geojson` }),
    ),
    seasonNote(catalog, names.join(', ').split(', ')),
    tableOf({
      caption: savedFields.caption(product.unit),
      columns: [
        { title: columns.id },
        { title: columns.name },
        { title: columns.hectares, number: true, text: areas },
        ...names.map((title) => ({ title: title || product.unit, number: true, text })),
        { title: points.reason },
      ],
      rows,
      rowsAPage: 25,
    }),
  )
}

const MEDIA_TYPES: Record<string, string> = { csv: 'text/csv', geojson: 'application/geo+json' }

/** A button that saves an answer as a file, of the format that its name ends with. */
export function fileButton(
  session: Session,
  label: string,
  { path, query, name }: { path: string; query: Query; name: string },
) {
  return workButton(label, async () => {
    const accept = MEDIA_TYPES[name.split('.').at(-1) ?? ''] ?? ''
    save(await session.get<Blob>(path, query, { headers: { accept }, asFile: true }), name, accept)
  })
}
