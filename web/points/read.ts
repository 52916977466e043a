// From a file to the points of calls, in slices between which the page goes on.

import type { Point } from './batches.ts'
import { type Columns, delimiterOf, NoTable, numberIn, recordsOf } from './csv.ts'

/** A file as it was read: the names of its columns, and its rows. */
export interface Table {
  header: string[]
  rows: string[][]
}

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

/** @throws {NoTable} */
export async function readTable(text: string): Promise<Table> {
  const rows: string[][] = []
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

/** @param number of the row, from 1: its id where it has no other */
export function pointOf(record: string[], columns: Columns, number: number): Point {
  const name = (record[columns.name] ?? '').trim().slice(0, 200)
  return {
    id: (record[columns.id] ?? '').trim().slice(0, 200) || String(number),
    ...(name !== '' && { name }),
    lat: numberIn(record[columns.lat]),
    lng: numberIn(record[columns.lng]),
  }
}
