import { SCENARIOS } from '#schemas/glossary.ts'
import { answerAt, isInPack, type Pack, type PackAnswer } from '#src/extensions/packs/reading.ts'
import { swapped } from '#src/lib/names.ts'
import type { CatalogProduct, Place } from '../../../api-types.ts'
import { save } from '../../../parts/blocks.ts'
import { seasonNote } from '../../../parts/values.ts'
import { type Section, scenariosOf, sectionsOf, sectionsOfFailure } from '../../../place/answered.ts'
import { quantities, type Typed } from '../../../place/quantities.ts'
import { conditionChooser, type NamedRelease, sectionOf } from '../../../place/section.ts'
import { button, element } from '../../../shell/element.ts'
import { TEXTS } from '../../../texts/en.ts'
import { texts } from './texts.ts'

export interface Asked {
  place: Place
  /** As it was found by; null for coordinates. */
  name: string | null
  crop: string
  condition: string | null
  hectares: number | null
  typed: Typed
}

interface Actions {
  setCondition: (condition: string | null) => void
  setHectares: (hectares: number | null) => void
}

/** Products as the other pages know them. */
function productsOf({ products }: Pack): CatalogProduct[] {
  return products.map(({ code, unit, value, seasonal }) => ({
    product: code,
    unit,
    value: { key: value.key, unit, description: '' },
    needs_crop: seasonal,
  }))
}

function releasesOf({ releases }: Pack): NamedRelease[] {
  return releases.map(({ code, validUntil, synthetic, source, licence }) => ({
    release: code,
    valid_until: validUntil,
    synthetic,
    source,
    licence,
  }))
}

/** The answer of a place. Without a condition where no release has the wanted one. */
function ask(pack: Pack, { place, crop }: Asked, condition: string | null): PackAnswer | null {
  return answerAt(pack, { ...place, crop, condition: condition ?? undefined })
}

function readSections(pack: Pack, { status, body }: PackAnswer): Section[] {
  const products = productsOf(pack)
  const sections =
    status === 200
      ? sectionsOf(products, body as Parameters<typeof sectionsOf>[1])
      : sectionsOfFailure(products, {
          message: String(body.error),
          details: (body.details ?? []) as { field: string; message: string }[],
        })
  return sections.map((section) => ({
    ...section,
    conditions: pack.releases.find(({ code }) => code === section.release)?.conditions ?? undefined,
  }))
}

/** What is known of a place. */
export function placeParts(pack: Pack, asked: Asked, { setCondition, setHectares }: Actions): HTMLElement[] {
  const { place, name, condition, hectares, typed } = asked
  const [lat, lng] = [String(place.lat), String(place.lng)]
  const head = [
    element('h2', { tabIndex: -1 }, name ?? TEXTS.place.at(lat, lng)),
    element('p', { className: 'small' }, TEXTS.place.coordinates(lat, lng)),
  ]
  const answer = ask(pack, asked, condition)
  if (!answer) return [...head, element('p', { className: 'notice' }, sayOutside(pack, place))]
  const wanted = readSections(pack, answer)
  // A release without the condition answers as without one.
  const otherwise =
    wanted.some(({ refused }) => refused) || answer.status === 400 ? ask(pack, asked, null) : null
  const others = otherwise && readSections(pack, otherwise)
  const sections = wanted.map((section, index) =>
    (section.refused || answer.status === 400) && others ? (others[index] ?? section) : section,
  )
  const isMixed = new Set(pack.releases.map(({ synthetic }) => synthetic)).size > 1
  return [
    ...head,
    ...sections.map((section) =>
      sectionOf(
        section,
        { releases: releasesOf(pack) },
        conditionChooser(section, condition, setCondition),
        // Of all together the head says it.
        isMixed && texts.demo,
      ),
    ),
    seasonNote({ scenarios: [...SCENARIOS] }, scenariosOf(sections)),
    quantities(sections, hectares, typed, setHectares),
    dataOf(answer.body, place),
  ].filter((part) => part !== false)
}

function sayOutside(pack: Pack, { lat, lng }: Place): string {
  const meant = swapped({ longitude: lng, latitude: lat })
  return meant && isInPack(pack, meant) ? `${texts.outside} ${texts.swapped}` : texts.outside
}

function dataOf(body: object, { lat, lng }: Place) {
  const json = JSON.stringify(body, null, 2)
  return element(
    'details',
    { className: 'calls' },
    element('summary', {}, texts.data),
    element('pre', { tabIndex: 0, role: 'region', 'aria-label': texts.data }, element('code', {}, json)),
    button(texts.save, () => save(json, `${lat}_${lng}.json`, 'application/json')),
  )
}
