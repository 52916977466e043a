// Thousands of points, sent in calls that the service takes from anybody.

import type { Point } from '../parts/csv.ts'
import { withRetries } from '../shell/api.ts'

/** An item of the service, for one point. */
export interface Answer {
  location?: { name: string; lat: number; lng: number }
  release?: string
  synthetic?: boolean
  error?: string
  code?: string
}

/** The service's limit for callers without an account. */
const POINTS_A_CALL = 1000

/** Calls that are refused with these are sent again; 0 is no answer. */
const FOR_NOW = [0, 429, 503]

interface Work {
  points: Point[]
  /** Asks the service, and gives its lines back. */
  send: (lines: string, init: RequestInit) => Promise<string>
  signal: AbortSignal
  wait?: (milliseconds: number) => Promise<unknown>
}

/** @returns the answers of one call after the other, in the order of the points */
export async function* adviseAll({ points, send, signal, wait }: Work): AsyncGenerator<Answer[]> {
  const headers = { 'content-type': 'application/x-ndjson', accept: 'application/x-ndjson' }
  for (let from = 0; from < points.length; from += POINTS_A_CALL) {
    const some = points.slice(from, from + POINTS_A_CALL)
    const lines = some.map((point) => `${JSON.stringify(point)}\n`).join('')
    const text = await withRetries(() => send(lines, { headers, signal }), {
      statuses: FOR_NOW,
      ...(wait && { wait }),
    })
    const answers = linesOf(text)
    if (answers.length !== some.length)
      throw new TypeError(`${answers.length} answers to ${some.length} points`)
    yield answers
    signal.throwIfAborted()
  }
}

/** The items of an answer with one a line. */
function linesOf(text: string): Answer[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
