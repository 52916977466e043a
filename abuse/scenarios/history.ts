import { flood } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.51, 9.5],
      [38.51, 9.51],
      [38.5, 9.5],
    ],
  ],
}
/** More than this grows one account's history in a day by more than a disk has. */
const MOST_MIB_A_SECOND = 0.5

export const historyGrowth: Scenario = {
  name: 'history-growth',
  attacker: 'asks for a field with 900 kB of properties over 4 connections',
  victims: ['kept point', 'history'],
  async begin({ newcomer, stored }) {
    // Digits that do not compress.
    const note = Array.from({ length: 50_000 }, () => Math.random().toString(36).slice(2))
      .join('')
      .slice(0, 900_000)
    const body = JSON.stringify({ geometry: { type: 'Feature', geometry: FIELD, properties: { note } } })
    const before = await stored?.()
    const started = performance.now()
    const attack = flood([await newcomer()], 4, () => ({ path: '/advisory/yield', body }))
    return {
      async stop() {
        await attack.stop()
        const seconds = (performance.now() - started) / 1000
        const after = await stored?.()
        if (before === undefined || after === undefined) return []
        const value = (after - before) / seconds
        return [{ what: 'growth of the database', value, unit: ' MiB/s', limit: MOST_MIB_A_SECOND }]
      },
    }
  },
}

export const historyReads: Scenario = {
  name: 'history-reads',
  attacker: 'asks for an own page of history over 1,000 connections',
  victims: ['kept point', 'history', 'login'],
  async begin({ newcomer }) {
    return flood([await newcomer()], 1000, () => ({ method: 'GET', path: '/history/my?limit=100' }))
  },
}
