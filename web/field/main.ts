import { loginFirst } from '../account/enter.ts'
import type { Catalog } from '../api-types.ts'
import { type Feature, featuresMap } from '../map/features-map.ts'
import { placeLinks } from '../parts/blocks.ts'
import { formOf } from '../parts/form.ts'
import { placeChoosers, type Series, seriesIn } from '../parts/series.ts'
import { type Field, fieldText, readField, readOrSay, swappedInto } from '../parts/shape.ts'
import { type Page, startPage } from '../parts/start.ts'
import { textZone } from '../parts/text-file.ts'
import { loadCatalog } from '../shell/api.ts'
import { element, replaceControls } from '../shell/element.ts'
import { field } from '../texts/en.ts'
import { adviceUnder, fieldAdvice } from './advice.ts'
import { drawer, mapCard } from './drawing.ts'

const REPORT = new URL('../field/report-main.bundle.js', import.meta.url).href

/** The report comes when it is asked for: the first view does without it. */
const loadReport = (): Promise<typeof import('./report-main.ts')> => import(REPORT)

/** A longer outline is not put into the address. */
const LONGEST_LINK = 2000

/** A file of a field is a few kilobytes; larger ones are something else. */
const FILES = {
  label: field.drop,
  accept: '.json,.geojson,.kml,.gpx,.wkt,.txt',
  largest: 2_000_000,
  tooLarge: field.tooLarge,
}

/** A field that is drawn, pasted or dropped, and what the service says of it. */
async function open(page: Page) {
  const { view, note, left } = page
  const catalog = await loadCatalog(left)
  const map = featuresMap(catalog, { label: field.map, left })
  let series = seriesIn(view)
  const choosers = element('div')
  const result = reportPlace()

  const swap = element('div', { role: 'status' })
  const form = fieldForm(view, async (called, text) => {
    const report = () => reportOn(page, catalog, series, { name: called, text })
    if (await result.show(report)) keep()
  })
  const outline = form.elements.namedItem('outline') as HTMLTextAreaElement
  const name = form.elements.namedItem('name') as HTMLInputElement
  const drawing =
    map &&
    drawer(map, (shape) => {
      outline.value = shape ? fieldText(shape) : ''
      swap.replaceChildren()
      result.forget()
      keep()
    })

  function choose(chosen: typeof series) {
    result.forget()
    const offered = placeChoosers(catalog, chosen, choose)
    series = offered.chosen
    replaceControls(choosers, offered.place)
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
    result.forget()
    swap.replaceChildren(...swapOffer(catalog, outline.value, take))
    keep()
  }

  function take(read: Field) {
    outline.value = fieldText(read.shape)
    if (read.name) name.value = read.name
    outline.dispatchEvent(new Event('input', { bubbles: true }))
    showTyped()
  }

  async function takeFile(text: string, file: string) {
    const read = readOrSay(text, 'outline')
    take(read)
    return read.gap ? `${field.taken(file)} ${field.gap(read.gap)}` : field.taken(file)
  }

  choose(series)
  outline.addEventListener('change', showTyped)
  outline.addEventListener('input', result.forget)
  name.addEventListener('input', result.forget)
  if (outline.value !== '') showTyped()
  return element(
    'div',
    { class: 'column', 'data-goes-on': '' },
    element('p', {}, field.why),
    element(
      'div',
      { class: 'halves' },
      map && drawing && mapCard(map, drawing),
      element('section', { class: 'card' }, choosers, textZone({ ...FILES, take: takeFile }), form, swap),
    ),
    result.place,
  )
}

/** A place for the report of what was asked for last: it is empty once something else is given, or refused. */
function reportPlace() {
  const place = element('div', { 'aria-live': 'polite' })
  let asked = 0
  function forget() {
    asked++
    place.replaceChildren()
  }
  /** @returns whether it is still wanted */
  async function show(ask: () => Promise<HTMLElement>) {
    forget()
    const mine = asked
    const report = await ask()
    if (mine !== asked) return false
    place.replaceChildren(report)
    report.querySelector('h3')?.focus()
    return true
  }
  return { place, forget, show }
}

/** Offers to swap latitude and longitude, where the field lies on a map that is served then alone. */
function swapOffer({ releases }: Catalog, text: string, take: (read: Field) => void) {
  const extents = releases.flatMap(({ grids }) => grids.map(({ extent }) => extent))
  const read = swappedInto(extents, text)
  if (!read) return []
  const button = element('button', { type: 'button', onclick: () => take(read) }, field.swap)
  return [element('div', { class: 'notice' }, element('p', {}, field.swapped), button)]
}

function fieldForm(view: URLSearchParams, answer: (name: string, text: string) => Promise<void>) {
  return formOf({
    fields: [
      { name: 'name', label: field.name, value: view.get('name') ?? '', attributes: { maxlength: 200 } },
      {
        name: 'outline',
        label: field.corners,
        hint: field.cornersHint,
        type: 'textarea',
        value: view.get('outline') ?? '',
        attributes: { rows: 6 },
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
  const [{ fieldReport }, found] = await Promise.all([loadReport(), fieldAdvice(session, wanted)])
  let advice = found
  const show = () =>
    fieldReport(
      advice,
      wanted,
      placeLinks({ country, crop, name: called, outline: fieldText(shape) }),
      async (one, condition) => {
        const other = 'answer' in one && (await adviceUnder(session, one, wanted, condition))
        if (!other) return
        advice = advice.map((each) => (each === one ? other : each))
        const next = show()
        const [opened, fold] = [report, next].map((each) => each.querySelector('details'))
        fold?.toggleAttribute('open', opened?.open)
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

startPage('field', field.title, open)
