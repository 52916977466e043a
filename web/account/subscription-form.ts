import { formOf } from '../parts/form.ts'
import { seriesChoosers, seriesIn } from '../parts/series.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { newName } from './session.ts'
import { placeFields, placeIn, placeRows } from './subscription-place.ts'

/** @typedef {import('../parts/series.ts').Series} Series */
/** @typedef {{ input: string | null, scenario: string | null }} Layer */

const { subscriptions } = TEXTS

/**
 * Where, of what and from which change on somebody wants to be told.
 *
 * @param {import('./session.ts').Session} session
 * @param {import('../api-types.ts').Catalog} catalog
 * @param {Pick<import('../parts/page.ts').Page, 'view' | 'left'>} page of which the address may say what is wanted
 * @param {(made: import('./subscriptions.ts').Subscription & { secret: string }) => Promise<void>} done
 */
export function subscriptionForm(session, catalog, { view, left }, done) {
  // No month is chosen: the newest is watched at any time.
  const series = {
    ...catalog,
    releases: catalog.releases.map((one) => ({ ...one, forecast_period: null })),
  }
  const choosers = element('div')
  let release: import('../api-types.ts').CatalogRelease | undefined
  // Of one subscription that is wanted, however often its request is sent.
  let request = newName()
  const form = formOf({
    fields: fieldsOf(view),
    action: subscriptions.make,
    async submit(values) {
      if (!release) return
      const made = await session.send('subscriptions', wantedBy(values, release), {
        headers: { 'idempotency-key': request },
      })
      request = newName()
      await done(made)
    },
  })

  const place = placeRows(form, { session, catalog, view, left })

  /** @param {Series} wanted */
  function choose(wanted) {
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

  /** @param {typeof release} wanted */
  async function offerLayers(wanted) {
    fill('input', optionsOf([]))
    fill('scenario', optionsOf([]))
    if (!wanted) return
    /** @type {{ layers: Layer[] }} */
    const { layers } = await session
      .get(`releases/${encodeURIComponent(wanted.release)}`)
      .catch(() => ({ layers: [] }))
    if (wanted !== release) return
    fill('input', optionsOf(layers.map(({ input }) => input)))
    fill('scenario', optionsOf(layers.map(({ scenario }) => scenario)))
  }

  /** @param {string} name @param {{ value: string, text: string }[]} options */
  function fill(name, options) {
    const control = /** @type {HTMLSelectElement} */ (form.elements.namedItem(name))
    control.replaceChildren(...options.map(({ text, ...option }) => element('option', option, text)))
  }

  form.prepend(choosers)
  choose({ ...seriesIn(view), month: null })
  return form
}

/** @param {URLSearchParams} view */
function fieldsOf(view) {
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

/** All, and each that there is. @param {(string | null)[]} names */
function optionsOf(names) {
  const different = [...new Set(names.filter((name) => name !== null))]
  return [{ value: '', text: subscriptions.all }, ...different.map((name) => ({ value: name, text: name }))]
}

/**
 * What is left empty is not sent, so that the service says what is missing.
 *
 * @param {Record<string, string>} values
 * @param {import('../api-types.ts').CatalogRelease} release
 */
function wantedBy(values, { product, country_code, crop }) {
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
