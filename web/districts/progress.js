import { linesOf } from '../points/batches.js'
import { element } from '../shell/element.js'
import { TEXTS } from '../texts/en.js'

const { districts } = TEXTS

/**
 * The advice for all areas of a level, which is counted while it comes: an area is a line.
 *
 * @param {import('../account/session.js').Session} session
 * @param {object} wanted
 * @param {string} wanted.path
 * @param {object} wanted.request
 * @param {number} wanted.areas how many there are
 * @param {AbortSignal} wanted.left
 */
export function countedAreas(session, { path, request, areas, left }) {
  const bar = element('progress', { max: areas, value: 0, 'aria-label': districts.progress })
  const said = element('span')
  const place = element('p', { class: 'actions', hidden: true }, bar, said)

  /** @param {number} count */
  function tell(count) {
    bar.value = count
    said.replaceChildren(districts.sofar(count, areas))
  }

  /** @returns {Promise<import('./table.js').Item[]>} */
  async function load() {
    let count = 0
    tell(count)
    place.hidden = false
    try {
      const text = await session.send(path, request, {
        signal: left,
        headers: { accept: 'application/x-ndjson' },
        onText(piece) {
          count += piece.split('\n').length - 1
          tell(count)
        },
      })
      return linesOf(text)
    } finally {
      place.hidden = true
    }
  }

  return { place, load }
}
