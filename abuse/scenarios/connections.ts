import { flood, hold } from '../attacks.ts'
import { written } from '../client.ts'
import type { Figure, Scenario, Target } from '../scenario.ts'

const POLYGON_PATH = '/advisory/yield'
const MIB = 2 ** 20

/** Measures what the memory of a service has grown by. */
function growthOf({ memory }: Target, limit: number) {
  const before = memory?.()
  return (): Figure[] => {
    const after = memory?.()
    if (before === undefined || after === undefined) return []
    return [{ what: 'growth of the memory', value: Math.max(0, after - before), unit: ' MiB', limit }]
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
    const growth = growthOf(target, 20)
    return hold(attacker, { connections: 200, bytes, reads: true }, growth)
  },
}

export const halfOpen: Scenario = {
  name: 'half-open',
  attacker: 'sends half of the head of a request over each of 2,000 connections',
  victims: ['kept point', 'history'],
  async begin(target) {
    const attacker = await target.newcomer()
    const growth = growthOf(target, 50)
    const bytes = Buffer.from('POST /advisory/yield/point HTTP/1.1\r\nHost: 127')
    return hold(attacker, { connections: 2000, bytes, reads: true }, growth)
  },
}
