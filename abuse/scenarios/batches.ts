import { written } from '#bench/load/client.ts'
import { hold } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

const PATH = '/advisory/yield/points'
const POINTS = 20_000
/** What all long bodies together once had room in: a little less than all of it is taken. */
const ROOM_BYTES = 4 * 8 * 2 ** 20
const ANSWERS = 10
const UPLOADS = 6

/** As many points as a call may have, with something to each that makes the body long. */
function manyPoints(): string {
  const note = 'x'.repeat(ROOM_BYTES / ANSWERS / POINTS - 60)
  const points = Array.from({ length: POINTS }, (_, id) => ({ id, lat: 9.5, lng: 38.5, note }))
  const body = JSON.stringify({ points })
  return body + ' '.repeat(Math.floor(ROOM_BYTES / ANSWERS) - body.length)
}

export const unreadAnswers: Scenario = {
  name: 'unread-answers',
  attacker: `asks for 20,000 points in 3 MB over each of ${ANSWERS} connections, and reads none of the answers`,
  victims: ['batch', 'history'],
  async begin({ newcomer }) {
    const attacker = await newcomer()
    const bytes = written(attacker, { path: PATH, body: manyPoints() })
    return hold(attacker, { connections: ANSWERS, bytes, reads: false })
  },
}

export const stalledUploads: Scenario = {
  name: 'stalled-uploads',
  attacker: `sends 5.6 of 8 MB of points over each of ${UPLOADS} connections, and then nothing`,
  victims: ['batch', 'history'],
  async begin({ newcomer }) {
    const attacker = await newcomer()
    const body = ' '.repeat(Math.floor(ROOM_BYTES / UPLOADS))
    const bytes = written(attacker, { path: PATH, body }, 8_000_000)
    return hold(attacker, { connections: UPLOADS, bytes, reads: true })
  },
}
