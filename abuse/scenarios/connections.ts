import { written } from '#bench/load/client.ts'
import { flood, hold, watchMemory } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

const POLYGON_PATH = '/advisory/yield'
const MIB = 2 ** 20

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
    const growth = await watchMemory(target, { held: 20, resident: 64 })
    return hold(attacker, { connections: 200, bytes, reads: true }, growth)
  },
}

export const halfOpen: Scenario = {
  name: 'half-open',
  attacker: 'sends half of the head of a request over each of 2,000 connections',
  victims: ['kept point', 'history'],
  async begin(target) {
    const attacker = await target.newcomer()
    const growth = await watchMemory(target, { held: 50, resident: 64 })
    const bytes = Buffer.from('POST /advisory/yield/point HTTP/1.1\r\nHost: 127')
    return hold(attacker, { connections: 2000, bytes, reads: true }, growth)
  },
}
