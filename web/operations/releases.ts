import { loaded, section, timeText } from '../parts/blocks.ts'
import { tableOf } from '../parts/table.ts'
import { element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct, numberText } from '../texts/names.ts'
import { allItems } from './pages.ts'

/** @typedef {import('../account/session.ts').Session} Session */

/**
 * @typedef {object} Release
 * @property {string} release
 * @property {string} product
 * @property {string} country_code
 * @property {string | null} crop
 * @property {string | null} forecast_period
 * @property {string} state
 * @property {string} source
 * @property {string} licence
 * @property {string} checksum
 * @property {string} loaded_at
 * @property {string | null} published_from
 * @property {string | null} published_to
 */

/**
 * @typedef {Release & {
 *   periods: { from: string, to: string | null }[],
 *   layers: {
 *     layer: number, input: string | null, scenario: string | null, unit: string, pixels: number,
 *     minimum: number | null, mean: number | null, maximum: number | null,
 *   }[],
 * }} Described
 */

/** @typedef {(side: 'after' | 'before', release: string) => void} Choose */

const { releases } = TEXTS
const STATES = ['unpublished', 'published', 'replaced', 'deleted']

/**
 * All releases, also those that are not published yet, and what there is of the one that is chosen.
 *
 * @param {Session} session
 * @param {AbortSignal} left
 * @param {Choose} choose takes one of the two that are compared
 */
export function releasesSection(session, left, choose) {
  let state = ''
  const details = element('div', { 'aria-live': 'polite' })
  const list = loaded(async () =>
    tableOfReleases(await allItems(session, 'releases', { state: state || null }, left), (release) =>
      details.replaceChildren(loaded(() => describe(release))),
    ),
  )
  const options = [
    { value: '', text: releases.every },
    ...STATES.map((value) => ({ value, text: releases.states[value] ?? value })),
  ]
  const chooser = select(options, state, (chosen) => {
    state = chosen
    void list.reload()
  })
  chooser.name = 'state'

  /** @param {string} code */
  async function describe(code) {
    /** @type {Described} */
    const release = await session.get(`releases/${encodeURIComponent(code)}`, {}, { signal: left })
    return description(release, choose)
  }

  return section(
    releases.title,
    element('p', {}, releases.why),
    labelled(releases.state, chooser),
    list,
    details,
  )
}

/** @param {Release[]} items @param {(release: string) => void} open */
function tableOfReleases(items, open) {
  return tableOf({
    caption: releases.caption,
    columns: Object.values(releases.columns).map((title) => ({ title })),
    rows: items.map((one) => ({
      cells: [
        one.release,
        releases.states[one.state] ?? one.state,
        one.published_from,
        one.published_to,
        nameOfProduct(one.product),
        one.country_code,
        one.crop,
        one.forecast_period,
        one.source,
        one.licence,
      ],
      shown: [
        element(
          'button',
          {
            type: 'button',
            class: 'link',
            'aria-label': releases.open(one.release),
            onclick: () => open(one.release),
          },
          one.release,
        ),
        undefined,
        one.published_from === null ? '' : timeText(one.published_from),
        one.published_to === null ? '' : timeText(one.published_to),
      ],
    })),
  })
}

/** @param {Described} release @param {Choose} choose */
function description(release, choose) {
  const { release: code, periods, layers, source, licence, checksum, loaded_at, state } = release
  /** @param {'after' | 'before'} side @param {string} label */
  const chooseAs = (side, label) =>
    element('button', { type: 'button', class: 'quiet', onclick: () => choose(side, code) }, label)
  return element(
    'div',
    {},
    element('h4', {}, code),
    element('p', {}, releases.from(source, licence)),
    element('p', {}, releases.loaded(timeText(loaded_at))),
    ...periods.map(({ from, to }) =>
      element('p', {}, releases.period(timeText(from), to === null ? null : timeText(to))),
    ),
    element('p', { class: 'hint' }, releases.checksum, ' ', element('code', {}, checksum)),
    state !== 'deleted' &&
      element(
        'p',
        { class: 'actions' },
        chooseAs('after', releases.asAfter),
        chooseAs('before', releases.asBefore),
      ),
    tableOf({
      caption: releases.layersOf(code),
      columns: [
        { title: releases.layer },
        { title: releases.unit },
        ...releases.numbers.map((title) => ({ title, number: true })),
      ],
      rows: layers.map((one) => ({
        cells: [
          [one.input, one.scenario].filter(Boolean).join(', ') || String(one.layer),
          one.unit,
          one.pixels,
          one.minimum,
          one.mean,
          one.maximum,
        ],
      })),
      numberText,
    }),
  )
}
