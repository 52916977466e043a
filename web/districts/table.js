import { tableOf } from '../parts/table.js'
import { entriesOf, labelOf } from '../parts/values.js'
import { classesOf, colorOf, NO_VALUE } from '../points/colors.js'
import { element, labelled, select } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'
import { numberText } from '../texts/names.js'

/** @typedef {import('../parts/values.js').Entry} Entry */

/**
 * @typedef {object} Item an area as it is answered
 * @property {string} id its code
 * @property {{ name: string, area_ha: number }} [location]
 * @property {boolean} [synthetic]
 * @property {string} [error]
 */

/**
 * @typedef {object} Wanted
 * @property {import('../api-types').Catalog} catalog
 * @property {import('../api-types').CatalogRelease} release
 * @property {number} level
 * @property {string | null} area the code of one that is marked
 * @property {import('../parts/features-map.js').FeaturesMap | null} map
 * @property {ReturnType<typeof import('../geo/areas.js').createAreas>} areasOf
 */

const { districts } = TEXTS
const TOTALS = ['total_kg', 'total_tons']

/**
 * The table of all areas, with a chooser of what of them is shown, and the map of it.
 *
 * @param {Item[]} items
 * @param {Wanted} wanted
 */
export function districtTable(items, wanted) {
  const { catalog, release, map } = wanted
  const value = catalog.products.find(({ product }) => product === release.product)?.value
  const entries = items.flatMap((item) => entriesOf(item))
  const total = TOTALS.find((key) => entries.some((entry) => key in entry))
  const figures = [value?.key ?? '', 'min', 'max', 'stddev', 'covered_percent', ...(total ? [total] : [])]
  const place = element('div')
  let area = wanted.area
  let fitted = false
  let draws = 0

  /** @param {string} figure */
  function show(figure) {
    const rows = items.map((item) => ({ item, values: figuresOf(item, figure) }))
    const names = [...new Set(rows.flatMap(({ values }) => [...values.keys()]))]
    const table = tableOf({
      caption: districts.caption(districts.figures[figure] ?? districts.mean(value?.unit ?? '')),
      columns: [
        { title: districts.area },
        { title: districts.hectares, number: true },
        ...names.map((title) => ({ title, number: true })),
        { title: districts.reason },
      ],
      rows: rows.map(({ item, values }) => ({
        cells: [
          item.location?.name ?? item.id,
          item.location && Math.round(item.location.area_ha * 10) / 10,
          ...names.map((name) => values.get(name)),
          item.error,
        ],
        mark: item.id === area ? 'chosen' : '',
      })),
      numberText,
      rowsAPage: 1000,
    })
    place.replaceChildren(table)
    const [first] = names
    if (first === undefined) return
    const values = new Map(rows.map((row) => [row.item.id, row.values.get(first)]))
    draw(values).catch(() => {})
  }

  /** @param {Map<string, number | undefined>} values by the codes of areas; drawn unless others are chosen meanwhile */
  async function draw(values) {
    const mine = ++draws
    const shapes = await wanted.areasOf(release.country_code, wanted.level)
    if (mine !== draws) return
    const whole = !fitted
    fitted = true
    await map?.show(featuresOf(shapes, values), whole)
  }

  const options = figures.map((key) => ({
    value: key,
    text: districts.figures[key] ?? districts.mean(value?.unit ?? ''),
  }))
  const chooser = select(options, figures[0] ?? '', show)
  chooser.name = 'figure'
  map?.ready.then(
    (drawn) =>
      drawn.on('click', 'feature-fill', ({ features }) => {
        area = features?.[0]?.properties.code ?? null
        show(chooser.value)
        place.querySelector('.chosen')?.scrollIntoView({ block: 'center' })
      }),
    () => {},
  )
  show(figures[0] ?? '')
  place.querySelector('.chosen')?.scrollIntoView({ block: 'center' })
  return element(
    'div',
    {},
    items.some(({ synthetic }) => synthetic) && element('p', { class: 'problem' }, TEXTS.synthetic),
    labelled(districts.figure, chooser),
    place,
  )
}

/** @param {Item} item @param {string} figure @returns {Map<string, number>} */
function figuresOf(item, figure) {
  return new Map(
    entriesOf(item).flatMap((entry) => {
      const value = entry[figure]
      return typeof value === 'number' ? [[labelOf(entry), value]] : []
    }),
  )
}

/**
 * @param {import('../api-types').Area[]} shapes
 * @param {Map<string, number | undefined>} values by the codes of areas
 */
function featuresOf(shapes, values) {
  const classes = classesOf([...values.values()].filter((one) => one !== undefined))
  return shapes.map(({ code, geometry }) => {
    const value = values.get(code)
    const color = value === undefined ? NO_VALUE : colorOf(classes, value)
    return { type: /** @type {const} */ ('Feature'), geometry, properties: { code, color } }
  })
}
