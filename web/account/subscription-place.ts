import type { AdminArea } from '#schemas/areas.ts'
import type { Catalog } from '../api-types.ts'
import { readOrSay } from '../field/read.ts'
import { type Field, mark } from '../parts/form.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import type { Session } from './session.ts'
import { allItems } from './session.ts'

type Kind = 'point' | 'polygon' | 'area'

const { subscriptions } = TEXTS

/** The fields of each kind of place, by the names that the service has for them. */
const FIELDS = {
  point: ['lat', 'lng'],
  polygon: ['geometry'],
  area: ['admin.level', 'admin.code'],
} as const

const KINDS = Object.keys(FIELDS) as Kind[]

/**
 * The fields that say where: a point, an outline, or an administrative area.
 *
 * @param view what is filled in
 */
export function placeFields(view: URLSearchParams): Field[] {
  const chosen = view.has('outline') ? 'polygon' : view.has('area') ? 'area' : 'point'
  const number = (name: string) => ({
    type: 'number',
    attributes: { required: true, step: 'any', value: view.get(name) ?? '' },
  })
  return [
    {
      name: 'kind',
      label: subscriptions.where,
      type: 'select',
      options: KINDS.map((kind) => ({
        value: kind,
        text: subscriptions.kinds[kind],
        selected: kind === chosen,
      })),
    },
    { name: 'lat', label: subscriptions.lat, ...number('lat') },
    { name: 'lng', label: subscriptions.lng, ...number('lng') },
    {
      name: 'geometry',
      label: TEXTS.field.corners,
      hint: TEXTS.field.cornersHint,
      type: 'textarea',
      attributes: { rows: 5, value: view.get('outline') ?? '' },
    },
    { name: 'admin.level', label: subscriptions.level, type: 'select' },
    { name: 'admin.code', label: subscriptions.areaOf, type: 'select' },
  ]
}

interface Source {
  session: Session
  catalog: Catalog
  view: URLSearchParams
  left: AbortSignal
}

/** Has a form show the fields of the kind that is chosen, and offer the areas of a country. */
export function placeRows(form: HTMLFormElement, { session, catalog, view, left }: Source) {
  const control = (name: string) => form.elements.namedItem(name) as HTMLSelectElement
  const [kind, level, code] = ['kind', 'admin.level', 'admin.code'].map(control)
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
  }

  function offerLevels() {
    const levels = catalog.boundaries
      .filter((one) => one.country_code === country && one.level > 0)
      .map((one) => String(one.level))
      .sort()
    fill(
      level,
      levels.map((value) => ({ value, text: value })),
      view.get('level'),
    )
  }

  async function offerAreas() {
    const wanted = `${country} ${level?.value}`
    if (wanted === offered) return
    offered = wanted
    fill(code, [])
    mark(form, 'admin.code', '')
    if (!level?.value) return
    const areas = await allItems<AdminArea>(
      session,
      'admin',
      { admin0: country, level: level.value },
      left,
    ).catch((error) => {
      mark(form, 'admin.code', TEXTS.failed(error.message))
      return []
    })
    if (wanted !== offered) return
    // What cannot be had now is asked for again.
    if (areas.length === 0) offered = ''
    const options = areas.map((one) => ({ value: one.code, text: nameOf(one) }))
    fill(
      code,
      options.sort((a, b) => a.text.localeCompare(b.text)),
      view.get('area'),
    )
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
  control: HTMLSelectElement | undefined,
  options: { value: string; text: string }[],
  chosen: string | null = null,
) {
  control?.replaceChildren(
    ...options.map(({ value, text }) => element('option', { value, selected: value === chosen }, text)),
  )
}

/** Many areas have a name of their own only within the one above. */
function nameOf({ name, parents }: AdminArea) {
  const above = parents.at(-1)
  return above && above.level > 0 ? TEXTS.search.within(name, above.name) : name
}

/** The place as the service takes it. What is left empty is not sent, so that the service says what is missing. */
export function placeIn(values: Record<string, string>, country: string) {
  const { kind, lat, lng, geometry = '' } = values
  if (kind === 'polygon') return { geometry: readOrSay(geometry, 'geometry').shape }
  if (kind === 'area') {
    const code = values['admin.code']
    const level = values['admin.level']
    return { admin: { country_code: country, ...(code && { code }), ...(level && { level: Number(level) }) } }
  }
  return { ...(lat && { lat: Number(lat) }), ...(lng && { lng: Number(lng) }) }
}
