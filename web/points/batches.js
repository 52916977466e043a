// Thousands of points, sent in calls that the service takes from anybody.

import { ApiFailure } from '../shell/api.js'

/** @typedef {{ id: string, name?: string, lat: number | string | null, lng: number | string | null }} Point */

/**
 * @typedef {object} Answer an item of the service, for one point
 * @property {{ name: string, lat: number, lng: number }} [location]
 * @property {string} [release]
 * @property {boolean} [synthetic]
 * @property {string} [error]
 * @property {string} [code]
 */

/** What the service takes of anybody at once. */
const POINTS_A_CALL = 1000

/** How often a call that is refused for now is sent again. */
const ATTEMPTS = 5

/** Before the first of them, in milliseconds; before each further one it is twice as long. */
const FIRST_WAIT = 1000

/**
 * @param {object} work
 * @param {Point[]} work.points
 * @param {(lines: string, init: RequestInit) => Promise<string>} work.send asks the service, and gives its lines back
 * @param {AbortSignal} work.signal
 * @param {(milliseconds: number) => Promise<unknown>} [work.wait]
 * @returns {AsyncGenerator<Answer[]>} the answers of one call after the other, in the order of the points
 */
export async function* adviseAll({ points, send, signal, wait = pause }) {
  const headers = { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' }
  for (let from = 0; from < points.length; from += POINTS_A_CALL) {
    const some = points.slice(from, from + POINTS_A_CALL)
    const lines = some.map((point) => `${JSON.stringify(point)}\n`).join('')
    const text = await sendPatiently(() => send(lines, { headers, signal }), wait)
    const answers = linesOf(text)
    if (answers.length !== some.length)
      throw new TypeError(`${answers.length} answers to ${some.length} points`)
    yield answers
    signal.throwIfAborted()
  }
}

/**
 * @param {() => Promise<string>} send
 * @param {(milliseconds: number) => Promise<unknown>} wait
 */
async function sendPatiently(send, wait) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (error) {
      const status = error instanceof ApiFailure ? error.status : undefined
      if (attempt === ATTEMPTS || ![0, 429, 503].includes(status ?? -1)) throw error
    }
    await wait(FIRST_WAIT * 2 ** (attempt - 1))
  }
}

/** @param {string} text @returns {Answer[]} */
function linesOf(text) {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** @param {number} milliseconds */
function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
