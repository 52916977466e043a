import { written } from '#bench/client.ts'
import { flood, hold } from '../attacks.ts'
import type { Figure, Memory, Scenario, Target } from '../scenario.ts'

const POLYGON_PATH = '/advisory/yield'
const MIB = 2 ** 20

/** Measures what the memory of a service has grown by; it may have done so by so many MiB. */
async function growthOf({ memory }: Target, limits: Memory) {
  const before = await memory?.()
  return async (): Promise<Figure[]> => {
    const after = await memory?.()
    if (!before || !after) return []
    const grown = (sort: keyof Memory, what: string): Figure => ({
      what,
      value: Math.max(0, after[sort] - before[sort]),
      unit: ' MiB',
      limit: limits[sort],
    })
    return [grown('held', 'memory that is held'), grown('resident', 'growth of the process')]
  }
}

export const deepLists: Scenario = {
  name: 'deep-lists',
  attacker: 'sends 1 MB of lists within lists over 8 connections',
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const deep = '['.repeat(60) + ']'.repeat(60)
    const body = `{"geometry":{"type":"Polygon","coordinates":[${Array(8600).fill(deep).join(',')}]}}`
    return flood([await newcomer()], 8, () => ({ path: POLYGON_PATH, body }))
  },
}

export const unfinishedBodies: Scenario = {
  name: 'unfinished-bodies',
  attacker: 'sends all but the end of 1 MB over each of 200 connections',
  victims: ['kept point', 'history'],
  async begin(target) {
    const attacker = await target.newcomer()
    const bytes = written(attacker, { path: POLYGON_PATH, body: ' '.repeat(MIB - 1000) }, MIB)
    const growth = await growthOf(target, { held: 20, resident: 64 })
    return hold(attacker, { connections: 200, bytes, reads: true }, growth)
  },
}

export const halfOpen: Scenario = {
  name: 'half-open',
  attacker: 'sends half of the head of a request over each of 2,000 connections',
  victims: ['kept point', 'history'],
  async begin(target) {
    const attacker = await target.newcomer()
    const growth = await growthOf(target, { held: 50, resident: 64 })
    const bytes = Buffer.from('POST /advisory/yield/point HTTP/1.1\r\nHost: 127')
    return hold(attacker, { connections: 2000, bytes, reads: true }, growth)
  },
}
