import type { CoverageEntry } from '#src/extensions/ogc/schemas.ts'
import type { Catalog } from '../../api-types.ts'
import type { OperationsPart } from '../../operations/part.ts'
import { loaded, save, section } from '../../parts/blocks.ts'
import { csvText } from '../../parts/csv.ts'
import { filterForm } from '../../parts/form.ts'
import { allItems } from '../../parts/session.ts'
import { numberColumns, tableOf } from '../../parts/table.ts'
import { button, element, optionsOf } from '../../shell/element.ts'
import { TEXTS } from '../../texts/en.ts'
import { nameIn, nameOfProduct, numberText } from '../../texts/names.ts'
import { coverage } from './texts.ts'

interface Area {
  country_code: string
  level: number
  code: string
  name: string
  products: CoverageEntry[]
}

interface Wanted {
  country: string
  level: string
  product: string
}

/** As the API names the columns of its table. */
const COLUMNS = [
  ...['country_code', 'level', 'code', 'name'],
  ...['product', 'crop', 'release', 'forecast_period', 'covered_percent', 'reason'],
]

/**
 * How much of each area has values of each release, and why there are none. It is asked for where the address says a
 * level, or by a press: the first time there is much to compute.
 */
export const part: OperationsPart = ({ session, view, note, left }, catalog) => {
  const result = element('div')
  const choose = ({ country = '', level = '', product = '' }) => {
    note({ country, level, product })
    show({ country, level, product })
  }
  const form = filterForm(coverage.show, fieldsOf(catalog, view), choose)

  function show({ country, level, product }: Wanted) {
    const said = element('p', { role: 'status' })
    const query = { country_code: country || null, level, product: product || null }
    const table = loaded(async () => {
      const areas = await allItems<Area>(session, 'coverage', query, left, (count) =>
        said.replaceChildren(coverage.sofar(count)),
      ).finally(() => said.replaceChildren())
      return tableOfCoverage(catalog, areas, `coverage-${country || 'all'}-${level}.csv`)
    })
    result.replaceChildren(said, table)
  }

  const [country = '', level, product = ''] = ['country', 'level', 'product'].map(
    (name) => view.get(name) ?? undefined,
  )
  if (level !== undefined) show({ country, level, product })
  return { place: section(coverage.title, element('p', {}, coverage.why), form, result) }
}

function fieldsOf({ countries, boundaries, products }: Catalog, view: URLSearchParams) {
  const levels = [...new Set(boundaries.map(({ level }) => level))].sort((a, b) => a - b)
  const chosenFrom = (name: string, label: string, options: ReturnType<typeof optionsOf>, first: string) => ({
    ...{ name, label, type: 'select', options, value: view.get(name) ?? first },
  })
  const codes = countries.map(({ code }) => code)
  const countryName = (code: string) => (code ? nameIn(countries, code) : coverage.everyCountry)
  const productName = (code: string) => (code ? nameOfProduct(code) : coverage.everyProduct)
  const country = view.has('level') ? '' : (codes[0] ?? '')
  const level = String(levels.find((one) => one > 0) ?? 0)
  const offered = ['', ...products.map(({ product }) => product)]
  return [
    chosenFrom('country', TEXTS.choosers.country, optionsOf([...codes, ''], countryName), country),
    chosenFrom('level', coverage.level, optionsOf(levels.map(String)), level),
    chosenFrom('product', TEXTS.choosers.product, optionsOf(offered, productName), ''),
  ]
}

function tableOfCoverage({ countries, crops }: Catalog, areas: Area[], file: string) {
  const rows = areas.flatMap((area) => area.products.map((one) => ({ area, one })))
  const empty = rows.filter(({ one }) => one.code !== undefined).length
  const download = () =>
    save(
      csvText([
        COLUMNS,
        ...rows.map(({ area: { country_code, level, code, name }, one }) => [
          ...[country_code, level, code, name],
          ...[one.product, one.crop, one.release, one.forecast_period, one.covered_percent, one.code],
        ]),
      ]),
      file,
    )
  const { covered, ...texts } = coverage.columns
  return element(
    'div',
    {},
    element('p', {}, coverage.summary(areas.length, rows.length, empty)),
    element('p', { class: 'actions' }, button(coverage.download, download)),
    tableOf({
      caption: coverage.caption,
      columns: [...numberColumns(covered), ...Object.values(texts).map((title) => ({ title }))],
      rows: rows.map(({ area, one }) => ({
        cells: [
          ...[one.covered_percent, area.name, nameIn(countries, area.country_code)],
          ...[nameOfProduct(one.product), one.crop && nameIn(crops, one.crop), one.forecast_period],
          ...[one.release, one.reason],
        ],
        mark: one.code === undefined ? '' : 'wrong',
      })),
      numberText,
    }),
  )
}
