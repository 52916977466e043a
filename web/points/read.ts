// From a file to the points of calls, in slices between which the page goes on.

import { delimiterOf, NoTable, numberIn, recordsOf } from './csv.ts'

/** @typedef {import('./csv.ts').Columns} Columns */
/** @typedef {import('./batches.ts').Point} Point */

/** A file as it was read: the names of its columns, and its rows. @typedef {{ header: string[], rows: string[][] }} Table */

/** More rows than a page should be asked to show. */
export const MOST_ROWS = 100_000

/** For so long nothing else of the page goes on, in milliseconds. */
const SLICE = 12

/** Makes what is to be called between two steps of a long work: it lets the page go on now and then. */
export function pauses() {
  let began = performance.now()
  return async () => {
    if (performance.now() - began < SLICE) return
    await new Promise((resolve) => setTimeout(resolve))
    began = performance.now()
  }
}

/**
 * @param {string} text
 * @returns {Promise<Table>}
 * @throws {NoTable}
 */
export async function readTable(text) {
  /** @type {string[][]} */
  const rows = []
  const pause = pauses()
  for (const record of recordsOf(text, delimiterOf(text))) {
    if (rows.length > MOST_ROWS) throw new NoTable('tooMany')
    rows.push(record)
    await pause()
  }
  const [header, ...others] = rows
  if (header === undefined) throw new NoTable('empty')
  if (others.length === 0) throw new NoTable('noRows')
  return { header, rows: others }
}

/**
 * @param {string[]} record
 * @param {Columns} columns
 * @param {number} number of the row, from 1: its id where it has no other
 * @returns {Point}
 */
export function pointOf(record, columns, number) {
  const name = (record[columns.name] ?? '').trim().slice(0, 200)
  return {
    id: (record[columns.id] ?? '').trim().slice(0, 200) || String(number),
    ...(name !== '' && { name }),
    lat: numberIn(record[columns.lat]),
    lng: numberIn(record[columns.lng]),
  }
}
