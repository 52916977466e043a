import type { SubscriptionAnswer } from '#schemas/subscriptions.ts'
import type { Catalog, CatalogRelease } from '../api-types.ts'
import { formOf } from '../parts/form.ts'
import { type Series, seriesChoosers, seriesIn } from '../parts/series.ts'
import type { Page } from '../parts/start.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { newName, type Session } from './session.ts'
import { placeFields, placeIn, placeRows } from './subscription-place.ts'

export type NewSubscription = SubscriptionAnswer & { secret: string }

interface Layer {
  input: string | null
  scenario: string | null
}

const { subscriptions } = TEXTS

/**
 * Where, of what and from which change on somebody wants to be told.
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
      const made = await session.send<NewSubscription>('subscriptions', wantedBy(values, release), {
        headers: { 'idempotency-key': request },
      })
      request = newName()
      await done(made)
    },
  })

  const place = placeRows(form, { session, catalog, view, left })

  function choose(wanted: Series) {
    const focused = choosers.contains(document.activeElement) && document.activeElement?.getAttribute('name')
    const chosen = seriesChoosers(series, wanted, choose)
    release = chosen.release
    choosers.replaceChildren(chosen.place)
    // Who chooses by the keyboard goes on where the choice was made.
    const again = [...choosers.querySelectorAll('select')].find(({ name }) => name === focused)
    again?.focus()
    const unit = catalog.products.find(({ product }) => product === release?.product)?.unit ?? ''
    fill('threshold.kind', [
      { value: 'relative', text: subscriptions.percent },
      { value: 'absolute', text: subscriptions.unit(unit) },
    ])
    if (release) place.setCountry(release.country_code)
    void offerLayers(release)
  }

  async function offerLayers(wanted: typeof release) {
    fill('input', optionsOf([]))
    fill('scenario', optionsOf([]))
    if (!wanted) return
    const { layers } = await session
      .get<{ layers: Layer[] }>(`releases/${encodeURIComponent(wanted.release)}`)
      .catch(() => ({ layers: [] }))
    if (wanted !== release) return
    fill('input', optionsOf(layers.map(({ input }) => input)))
    fill('scenario', optionsOf(layers.map(({ scenario }) => scenario)))
  }

  function fill(name: string, options: { value: string; text: string }[]) {
    const control = form.elements.namedItem(name) as HTMLSelectElement
    control.replaceChildren(...options.map(({ text, ...option }) => element('option', option, text)))
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
      attributes: { maxlength: 200, value: view.get('name') ?? '' },
    },
    ...placeFields(view),
    { name: 'input', label: subscriptions.input, type: 'select' },
    { name: 'scenario', label: subscriptions.scenario, type: 'select' },
    {
      name: 'threshold.value',
      label: subscriptions.thresholdValue,
      hint: subscriptions.thresholdHint,
      type: 'number',
      attributes: { value: '10', min: 0, step: 'any', required: true },
    },
    { name: 'threshold.kind', label: subscriptions.thresholdKind, type: 'select' },
    {
      name: 'url',
      label: subscriptions.url,
      hint: subscriptions.urlHint,
      type: 'url',
      attributes: { required: true, maxlength: 2000, autocomplete: 'off' },
    },
  ]
}

/** All, and each that there is. */
function optionsOf(names: (string | null)[]) {
  const different = [...new Set(names.filter((name) => name !== null))]
  return [{ value: '', text: subscriptions.all }, ...different.map((name) => ({ value: name, text: name }))]
}

/** What is left empty is not sent, so that the service says what is missing. */
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
