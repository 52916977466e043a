import { loginFirst } from '../account/enter.ts'
import type { Catalog } from '../api-types.ts'
import { watchLink } from '../parts/blocks.ts'
import { type Feature, featuresMap } from '../parts/features-map.ts'
import { dropZone, formOf } from '../parts/form.ts'
import { placeChoosers, type Series, seriesIn } from '../parts/series.ts'
import type { Page } from '../parts/start.ts'
import { startPage } from '../parts/start.ts'
import { element } from '../shell/element.ts'
import { field } from '../texts/en.ts'
import { adviceUnder, fieldAdvice } from './advice.ts'
import { drawer, mapCard } from './drawing.ts'
import { fieldReport } from './report.ts'
import { fieldText, readField, readOrSay } from './shape.ts'

/** A longer outline is not put into the address. */
const LONGEST_LINK = 2000

/** A file of a field is a few kilobytes; larger ones are something else. */
const LARGEST_FILE = 2_000_000

/** A field that is drawn, pasted or dropped, and what the service says of it. */
async function open(page: Page) {
  const { session, view, note, left } = page
  const catalog = await session.get<Catalog>('catalog')
  const map = featuresMap(catalog, { label: field.map, left })
  let series = seriesIn(view)
  const choosers = element('div')
  const result = element('div', { 'aria-live': 'polite' })

  const form = fieldForm(view, async (called, text) => {
    const report = await reportOn(page, catalog, series, { name: called, text })
    result.replaceChildren(report)
    report.querySelector('h3')?.focus()
    keep()
  })
  const outline = form.elements.namedItem('outline') as HTMLTextAreaElement
  const name = form.elements.namedItem('name') as HTMLInputElement
  const drawing =
    map &&
    drawer(map, (shape) => {
      outline.value = fieldText(shape)
      keep()
    })

  function choose(chosen: typeof series) {
    const offered = placeChoosers(catalog, chosen, choose)
    series = offered.chosen
    choosers.replaceChildren(offered.place)
    const { extent } = offered
    if (extent) map?.look(extent)
    keep()
  }

  function keep() {
    const { country, crop } = series
    const short = outline.value.length <= LONGEST_LINK
    note({ country, crop, name: name.value.trim(), outline: short ? outline.value.trim() : null })
  }

  /** Shows on the map what is typed, as far as it is a shape. */
  function showTyped() {
    drawing?.end()
    void map?.show(featuresIn(outline.value))
    keep()
  }

  async function take(file: File) {
    const read = readOrSay(await textIn(file), 'outline')
    outline.value = fieldText(read.shape)
    if (read.name) name.value = read.name
    showTyped()
    return field.taken(file.name)
  }

  choose(series)
  outline.addEventListener('change', showTyped)
  if (outline.value !== '') showTyped()
  return element(
    'div',
    { class: 'column', 'data-goes-on': '' },
    element('p', {}, field.why),
    element(
      'div',
      { class: 'halves' },
      map && drawing && mapCard(map, drawing),
      element(
        'section',
        { class: 'card' },
        choosers,
        dropZone(field.drop, '.json,.geojson,.txt', take),
        form,
      ),
    ),
    result,
  )
}

function fieldForm(view: URLSearchParams, answer: (name: string, text: string) => Promise<void>) {
  return formOf({
    fields: [
      { name: 'name', label: field.name, attributes: { value: view.get('name') ?? '', maxlength: 200 } },
      {
        name: 'outline',
        label: field.corners,
        hint: field.cornersHint,
        type: 'textarea',
        attributes: { value: view.get('outline') ?? '', rows: 6 },
      },
    ],
    action: field.ask,
    submit: ({ name = '', outline = '' }) => answer(name.trim(), outline),
  })
}

/** Asks for the advice, as somebody who is logged in. */
async function reportOn(
  { session, left }: Page,
  catalog: Catalog,
  { country, crop }: Series,
  { name, text }: { name: string; text: string },
) {
  const read = readOrSay(text, 'outline')
  if (!(await loginFirst(session, field.login))) throw new Error(field.loginNeeded)
  const { shape } = read
  const called = name || (read.name ?? '')
  const wanted = { catalog, shape, name: called, country, crop, signal: left }
  let advice = await fieldAdvice(session, wanted)
  const show = () =>
    fieldReport(
      advice,
      wanted,
      watchLink({ country, crop, name: called, outline: fieldText(shape) }),
      async (one, condition) => {
        const other = 'answer' in one && (await adviceUnder(session, one, wanted, condition))
        if (!other) return
        advice = advice.map((each) => (each === one ? other : each))
        const next = show()
        report.replaceWith(next)
        report = next
        report.querySelector<HTMLElement>(`[name="condition of ${one.product.product}"]`)?.focus()
      },
    )
  let report = show()
  return report
}

/** @returns none, where it is no shape yet */
function featuresIn(text: string): Feature[] {
  try {
    return [{ type: 'Feature', geometry: readField(text).shape, properties: {} }]
  } catch {
    return []
  }
}

async function textIn(file: File) {
  if (file.size > LARGEST_FILE) throw new Error(field.tooLarge)
  return file.text()
}

startPage('field', field.title, open)
