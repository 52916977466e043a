import type { ReleaseDescription, ReleaseSummary } from '#schemas/catalog.ts'
import { loaded, section, timeText } from '../parts/blocks.ts'
import { releasePath } from '../parts/choices.ts'
import { allItems, type Session } from '../parts/session.ts'
import { numberColumns, tableOf } from '../parts/table.ts'
import { button, chooser, element, optionsOf } from '../shell/element.ts'
import { loads, releases } from '../texts/en.ts'
import { agoText, nameOfProduct, numberText } from '../texts/names.ts'

const STATES = ['unpublished', 'published', 'replaced', 'deleted']

/**
 * All releases, also those that are not published yet, and what there is of the one that is chosen.
 *
 * @param actionsOf what can be done with one
 */
export function releasesSection(
  session: Session,
  left: AbortSignal,
  actionsOf: (release: string) => HTMLElement[],
) {
  let state = ''
  const details = element('div', { 'aria-live': 'polite' })
  const list = loaded(async () =>
    tableOfReleases(await allItems(session, 'releases', { state: state || null }, left), (release) =>
      details.replaceChildren(loaded(() => describe(release))),
    ),
  )
  const options = optionsOf(['', ...STATES], (value) => releases.states[value] ?? releases.every)
  const choose = (chosen: string) => {
    state = chosen
    void list.reload()
  }

  async function describe(code: string) {
    const found = await session.get<ReleaseDescription>(releasePath(code), {}, { signal: left })
    return description(found, actionsOf(code))
  }

  return section(
    releases.title,
    element('p', {}, releases.why),
    chooser(releases.state, 'state', options, state, choose),
    list,
    details,
  )
}

/** What a release answers for. */
export const seriesCells = (
  one: Pick<ReleaseSummary, 'product' | 'country_code' | 'crop' | 'forecast_period'>,
) => [nameOfProduct(one.product), one.country_code, one.crop, one.forecast_period]

function tableOfReleases(items: ReleaseSummary[], open: (release: string) => void) {
  return tableOf({
    caption: releases.caption,
    columns: Object.values(releases.columns).map((title) => ({ title })),
    rows: items.map((one) => ({
      cells: [
        ...[one.release, releases.states[one.state] ?? one.state, one.published_from, one.published_to],
        ...[...seriesCells(one), one.source, one.licence],
      ],
      shown: () => [
        button(one.release, () => open(one.release), 'link', { 'aria-label': releases.open(one.release) }),
        undefined,
        one.published_from === null ? '' : timeText(one.published_from),
        one.published_to === null ? '' : timeText(one.published_to),
      ],
    })),
  })
}

function description(release: ReleaseDescription, actions: HTMLElement[]) {
  const { release: code, periods, layers, source, licence, checksum, loaded_at, state } = release
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
    state !== 'deleted' && actions.length > 0 && element('p', { class: 'actions' }, ...actions),
    tableOf({
      caption: releases.layersOf(code),
      columns: [{ title: releases.layer }, { title: releases.unit }, ...numberColumns(...releases.numbers)],
      rows: layers.map((one) => ({
        cells: [
          [one.input, one.scenario].filter(Boolean).join(', ') || String(one.layer),
          ...[one.unit, one.pixels, one.minimum, one.mean, one.maximum],
        ],
      })),
      numberText,
    }),
  )
}

/** Releases that are not complete: being loaded, or left by loads that were cut off. */
export function loadsSection(session: Session, left: AbortSignal) {
  return section(
    loads.title,
    element('p', {}, loads.why),
    loaded(async () => {
      const items: ReleaseSummary[] = await allItems(session, 'releases', { state: 'incomplete' }, left)
      return items.length === 0 ? element('p', {}, loads.none) : tableOfLoads(items)
    }),
  )
}

function tableOfLoads(items: ReleaseSummary[]) {
  return tableOf({
    caption: loads.caption,
    columns: Object.values(loads.columns).map((title) => ({ title })),
    rows: items.map((one) => {
      const begun = Date.parse(one.loaded_at)
      return {
        cells: [
          ...[one.release, loads.states[one.load ?? 'unknown'], Date.now() - begun, one.loaded_at],
          ...[...seriesCells(one), one.source],
        ],
        shown: () => [undefined, undefined, agoText(begun), timeText(one.loaded_at)],
        mark: one.load === 'cut_off' ? 'wrong' : '',
      }
    }),
  })
}
