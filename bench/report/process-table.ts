import { figure } from '../limits.ts'
import type { Results } from '../results.ts'
import type { Table } from './table.ts'

export function processTable({ memory, startUp, embedded }: Results): Table[] {
  const rows: string[][] = []
  const add = (what: string, value: number | null | undefined, unit: string) => {
    if (value !== null && value !== undefined) rows.push([what, `${figure(value)} ${unit}`])
  }
  add('start on a server', startUp?.server, 's')
  add('first start, embedded, with demo data', startUp?.embeddedFirst, 's')
  add('second start, embedded', startUp?.embeddedSecond, 's')
  add('loading the release, embedded', embedded?.loadedIn, 's')
  add('memory after the start', memory?.idle, 'MiB')
  add('memory after points at 64 connections', memory?.loaded, 'MiB')
  add('memory with the cache full', memory?.full, 'MiB')
  add('peak memory', memory?.peak, 'MiB')
  add('memory after points, embedded', embedded?.memory, 'MiB')
  return rows.length > 0 ? [{ title: 'Start-up and memory', head: ['figure', 'measured'], rows }] : []
}
