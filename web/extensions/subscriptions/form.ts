import type { AdminArea } from '#schemas/areas.ts'
import type { SubscriptionAnswer } from '#src/extensions/subscriptions/schemas.ts'
import type { Catalog, CatalogRelease } from '../../api-types.ts'
import { releasePath } from '../../parts/choices.ts'
import { type Field, formOf, mark, wrongAt } from '../../parts/form.ts'
import { type Series, seriesChoosers, seriesIn } from '../../parts/series.ts'
import { allItems, newName, type Session } from '../../parts/session.ts'
import { readOrSay } from '../../parts/shape.ts'
import type { Page } from '../../parts/start.ts'
import { element, optionElements, optionsOf, replaceControls } from '../../shell/element.ts'
import { field, mapTexts, TEXTS } from '../../texts/en.ts'
import { nameOfLevel } from '../../texts/names.ts'
import { subscriptions } from './texts.ts'

type NewSubscription = SubscriptionAnswer & { secret: string }

interface Layer {
  input: string | null
  scenario: string | null
}

/**
 * Makes the form for a subscription: where, of what and from which change on.
 *
 * @param page of which the address may say what is wanted
 */
export function subscriptionForm(
  session: Session,
  catalog: Catalog,
  { view, left }: Pick<Page, 'view' | 'left'>,
  done: (made: NewSubscription) => Promise<void>,
) {
  // No month is chosen: the newest is watched at any time.
  const series = {
    ...catalog,
    releases: catalog.releases.map((one) => ({ ...one, forecast_period: null })),
  }
  const choosers = element('div')
  let release: CatalogRelease | undefined
  // Of one subscription that is wanted, however often its request is sent.
  let request = newName()
  const form = formOf({
    fields: fieldsOf(view),
    action: subscriptions.make,
    async submit(values) {
      if (!release) return
      const made = await session
        .send<NewSubscription>('subscriptions', wantedBy(values, release), {
          headers: { 'idempotency-key': request },
        })
        .catch((error) => {
          const [first] = FIELDS[values.kind as Kind]
          throw OF_PLACE.includes(error.code) ? wrongAt(first, error.message) : error
        })
      request = newName()
      await done(made)
    },
  })

  const place = placeRows(form, { session, catalog, view, left })

  function choose(wanted: Series) {
    const chosen = seriesChoosers(series, wanted, choose)
    release = chosen.release
    replaceControls(choosers, chosen.place)
    const unit = catalog.products.find(({ product }) => product === release?.product)?.unit ?? ''
    fill(form, 'threshold.kind', [
      { value: 'relative', text: subscriptions.percent },
      { value: 'absolute', text: subscriptions.unit(unit) },
    ])
    if (release) place.setCountry(release.country_code)
    void offerLayers(release)
  }

  async function offerLayers(wanted: typeof release) {
    fill(form, 'input', allOf([]))
    fill(form, 'scenario', allOf([]))
    form.setAttribute('aria-busy', String(wanted !== undefined))
    if (!wanted) return
    const { layers } = await session
      .get<{ layers: Layer[] }>(releasePath(wanted.release))
      .catch(() => ({ layers: [] }))
    if (wanted !== release) return
    form.setAttribute('aria-busy', 'false')
    fill(form, 'input', allOf(layers.map(({ input }) => input)))
    fill(form, 'scenario', allOf(layers.map(({ scenario }) => scenario)))
  }

  form.prepend(choosers)
  choose({ ...seriesIn(view), month: null })
  return form
}

function fieldsOf(view: URLSearchParams) {
  return [
    {
      name: 'name',
      label: subscriptions.name,
      hint: subscriptions.nameHint,
      value: view.get('name') ?? '',
      attributes: { maxlength: 200 },
    },
    ...placeFields(view),
    { name: 'input', label: subscriptions.input, type: 'select' },
    { name: 'scenario', label: subscriptions.scenario, type: 'select' },
    {
      name: 'threshold.value',
      label: subscriptions.thresholdValue,
      hint: subscriptions.thresholdHint,
      type: 'number',
      value: '10',
      attributes: { min: 0, step: 'any', required: true },
    },
    { name: 'threshold.kind', label: subscriptions.thresholdKind, type: 'select' },
    {
      name: 'url',
      label: subscriptions.url,
      hint: subscriptions.urlHint,
      ask: subscriptions.urlAsk,
      type: 'url',
      attributes: { required: true, maxlength: 2000, autocomplete: 'off' },
    },
  ]
}

/** All, and each that there is. */
const allOf = (names: (string | null)[]) =>
  optionsOf([...new Set(['', ...names.filter((name) => name !== null)])], (name) => name || subscriptions.all)

/** Empty fields are not sent, so that the service says which are missing. */
function wantedBy(values: Record<string, string>, { product, country_code, crop }: CatalogRelease) {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
  const { name, input, scenario, url } = given
  const value = given['threshold.value']
  return {
    ...{ product, country_code, name, input, scenario, url },
    ...(crop !== null && { crop }),
    ...placeIn(given, country_code),
    threshold: {
      kind: given['threshold.kind'],
      ...(value !== undefined && { value: Number(value) }),
    },
  }
}

type Kind = 'point' | 'polygon' | 'area' | 'fields'

/** The fields of each kind of place, by the names that the service has for them. */
const FIELDS = {
  point: ['lat', 'lng'],
  polygon: ['geometry'],
  area: ['admin.level', 'admin.code'],
  fields: ['fields'],
} as const

/** What is wrong with a place, and with none of its fields alone. */
const OF_PLACE = ['OUTSIDE_COUNTRY', 'NO_DATA', 'INVALID_GEOMETRY']

const KINDS = Object.keys(FIELDS) as Kind[]

/**
 * The fields that say where: a point, an outline, an administrative area, or saved fields.
 *
 * @param view what is filled in
 */
function placeFields(view: URLSearchParams): Field[] {
  const chosen = view.has('outline') ? 'polygon' : view.has('area') ? 'area' : 'point'
  const number = (name: string) => ({
    ...{ name, type: 'number', value: view.get(name) ?? '', attributes: { required: true, step: 'any' } },
  })
  return [
    {
      name: 'kind',
      label: subscriptions.where,
      type: 'select',
      options: optionsOf(KINDS, (kind) => subscriptions.kinds[kind as Kind]),
      value: chosen,
    },
    { label: subscriptions.lat, ...number('lat') },
    { label: subscriptions.lng, ...number('lng') },
    {
      name: 'geometry',
      label: field.corners,
      hint: field.cornersHint,
      type: 'textarea',
      value: view.get('outline') ?? '',
      attributes: { rows: 5 },
    },
    { name: 'admin.level', label: subscriptions.level, type: 'select' },
    { name: 'admin.code', label: subscriptions.areaOf, type: 'select' },
    { name: 'fields', label: subscriptions.collection, type: 'select' },
  ]
}

interface Source {
  session: Session
  catalog: Catalog
  view: URLSearchParams
  left: AbortSignal
}

/** Has a form show the fields of the kind that is chosen, and offer the areas of a country. */
function placeRows(form: HTMLFormElement, { session, catalog, view, left }: Source) {
  const control = (name: string) => form.elements.namedItem(name) as HTMLSelectElement
  const [kind, level] = ['kind', 'admin.level'].map(control)
  let country = ''
  let offered = ''

  function show() {
    for (const one of KINDS) {
      for (const name of FIELDS[one])
        control(name)
          .closest('.row')
          ?.toggleAttribute('hidden', one !== kind?.value)
    }
    if (kind?.value === 'area') void offerAreas()
    if (kind?.value === 'fields') void offerCollections()
  }

  function offerLevels() {
    const levels = catalog.boundaries
      .filter((one) => one.country_code === country && one.level > 0)
      .map((one) => one.level)
      .sort()
    const options = optionsOf(levels.map(String), (level) => nameOfLevel(country, Number(level)))
    fill(form, 'admin.level', options, view.get('level'))
  }

  async function offerAreas() {
    const wanted = `${country} ${level?.value}`
    if (wanted === offered) return
    offered = wanted
    fill(form, 'admin.code', [])
    mark(form, 'admin.code')
    if (!level?.value) return
    const query = { admin0: country, level: level.value }
    const areas = await allItems<AdminArea>(session, 'admin', query, left).catch((error) => {
      mark(form, 'admin.code', TEXTS.failed(error.message))
      return []
    })
    if (wanted !== offered) return
    // The next choice asks again.
    if (areas.length === 0) offered = ''
    const options = areas.map((one) => ({ value: one.code, text: nameOf(one) }))
    options.sort((a, b) => a.text.localeCompare(b.text))
    fill(form, 'admin.code', options, view.get('area'))
  }

  async function offerCollections() {
    mark(form, 'fields')
    const { items } = await session.get<{ items: { collection: string }[] }>('fields').catch((error) => {
      mark(form, 'fields', TEXTS.failed(error.message))
      return { items: [] }
    })
    const options = optionsOf(items.map(({ collection }) => collection))
    fill(form, 'fields', options, control('fields').value)
    if (items.length === 0) mark(form, 'fields', subscriptions.noFields)
  }

  kind?.addEventListener('change', show)
  level?.addEventListener('change', show)
  return {
    /** @param of whose areas are offered from now on */
    setCountry(of: string) {
      if (of !== country) {
        country = of
        offerLevels()
      }
      show()
    },
  }
}

function fill(
  form: HTMLFormElement,
  name: string,
  options: ReturnType<typeof optionsOf>,
  chosen: string | null = null,
) {
  const control = form.elements.namedItem(name) as HTMLSelectElement
  control.replaceChildren(...optionElements(options, chosen))
}

/** Many areas have a name of their own only within the one above. */
function nameOf({ name, parents }: AdminArea) {
  const above = parents.at(-1)
  return above && above.level > 0 ? mapTexts.search.within(name, above.name) : name
}

/** The place as the service takes it. What is left empty is not sent, so that the service says what is missing. */
function placeIn(values: Record<string, string>, country: string) {
  const { kind, lat, lng, geometry = '' } = values
  if (kind === 'polygon') return { geometry: readOrSay(geometry, 'geometry').shape }
  if (kind === 'area') {
    const code = values['admin.code']
    const level = values['admin.level']
    return { admin: { country_code: country, ...(code && { code }), ...(level && { level: Number(level) }) } }
  }
  if (kind === 'fields') return values.fields ? { fields: values.fields } : {}
  return { ...(lat && { lat: Number(lat) }), ...(lng && { lng: Number(lng) }) }
}
