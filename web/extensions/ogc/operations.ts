import type { CoverageEntry } from '#src/extensions/ogc/schemas.ts'
import type { Catalog } from '../../api-types.ts'
import type { OperationsPart } from '../../operations/part.ts'
import { loaded, save, section } from '../../parts/blocks.ts'
import { csvText } from '../../parts/csv.ts'
import { formOf } from '../../parts/form.ts'
import { allItems } from '../../parts/session.ts'
import { tableOf } from '../../parts/table.ts'
import { button, element } from '../../shell/element.ts'
import { TEXTS } from '../../texts/en.ts'
import { nameOfProduct, numberText } from '../../texts/names.ts'
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
  const form = formOf({
    fields: fieldsOf(catalog, view),
    action: coverage.show,
    async submit({ country = '', level = '', product = '' }) {
      note({ country, level, product })
      show({ country, level, product })
    },
  })
  form.classList.add('filters')

  function show(wanted: Wanted) {
    const said = element('p', { role: 'status' })
    const query = {
      country_code: wanted.country || null,
      level: wanted.level,
      product: wanted.product || null,
    }
    const table = loaded(async () => {
      const areas = await allItems<Area>(session, 'coverage', query, left, (count) =>
        said.replaceChildren(coverage.sofar(count)),
      ).finally(() => said.replaceChildren())
      return tableOfCoverage(areas, `coverage-${wanted.country || 'all'}-${wanted.level}.csv`)
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
  const level = view.get('level') ?? String(levels.find((one) => one > 0) ?? 0)
  const chosenOf = (options: { value: string; text: string }[], chosen: string | null) =>
    options.map((option) => ({ ...option, selected: option.value === chosen }))
  return [
    {
      name: 'country',
      label: TEXTS.choosers.country,
      type: 'select',
      options: chosenOf(
        [
          ...countries.map(({ code, name }) => ({ value: code, text: name })),
          { value: '', text: coverage.everyCountry },
        ],
        view.get('country') ?? (view.has('level') ? '' : (countries[0]?.code ?? '')),
      ),
    },
    {
      name: 'level',
      label: coverage.level,
      type: 'select',
      options: chosenOf(
        levels.map((one) => ({ value: String(one), text: String(one) })),
        level,
      ),
    },
    {
      name: 'product',
      label: TEXTS.choosers.product,
      type: 'select',
      options: chosenOf(
        [
          { value: '', text: coverage.everyProduct },
          ...products.map((one) => ({ value: one.product, text: nameOfProduct(one.product) })),
        ],
        view.get('product') ?? '',
      ),
    },
  ]
}

function tableOfCoverage(areas: Area[], file: string) {
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
      columns: [{ title: covered, number: true }, ...Object.values(texts).map((title) => ({ title }))],
      rows: rows.map(({ area, one }) => ({
        cells: [
          one.covered_percent,
          area.name,
          area.country_code,
          nameOfProduct(one.product),
          one.crop,
          one.forecast_period,
          one.release,
          one.reason,
        ],
        mark: one.code === undefined ? '' : 'wrong',
      })),
      numberText,
    }),
  )
}
