import type { Sent } from '#bench/load/client.ts'
import { flood } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

/** Long texts where a table or a line has short ones: others wait for what the service does with one of them in one go. */

const POINTS = '/advisory/yield/points'

/** Characters of the longest text: with all quotes doubled or escaped it fits in a body without a token. */
const LONGEST = 350_000

const sent = (type: string, body: string, path = POINTS): Sent => ({
  path,
  body,
  headers: { 'content-type': type, accept: type },
})

const csv = (body: string, path?: string) => sent('text/csv', body, path)
const lines = (point: object, path?: string) =>
  sent('application/x-ndjson', `${JSON.stringify(point)}\n`, path)

/** Somebody without a token, who sends some bodies over one connection, each as soon as the one before is answered. */
const attackOf = (name: string, attacker: string, make: () => Sent[]): Scenario => ({
  name,
  attacker: `${attacker} over one connection, without a token`,
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const bodies = make()
    let asked = 0
    const anybody = { ...(await newcomer()), token: undefined }
    return flood([anybody], 1, () => bodies[asked++ % bodies.length] as Sent)
  },
})

export const longCells = attackOf(
  'long-cells',
  'sends tables and lines whose cells, members and ids are 0.7 MB of quotes',
  () => {
    const quotes = '"'.repeat(LONGEST)
    const cell = `"${quotes}${quotes}"`
    const passing = `${POINTS}?pass=note`
    return [
      csv(`lat,lng,note\n9.5,38.5,${cell}\n`, passing),
      csv(`lat,lng,note\n9.5,38.5,${cell}\n`),
      csv(`lat,lng,id\n9.5,38.5,${cell}\n`),
      csv(`lat,lng\n${cell},38.5\n`),
      csv(`lat,lng,note\n${`9.5,38.5,${'"'.repeat(900)}\n`.repeat(900)}`, passing),
      lines({ lat: 9.5, lng: 38.5, note: quotes }, passing),
      lines({ lat: 9.5, lng: 38.5, id: quotes }),
    ]
  },
)

/** Members of one object, as many as a body without a token has room for. */
const MEMBERS = 80_000

export const manyMembers = attackOf('many-members', `sends points of ${MEMBERS} members`, () => {
  const members = Object.fromEntries(Array.from({ length: MEMBERS }, (_, at) => [`k${at}`, 1]))
  return [
    lines({ lat: 9.5, lng: 38.5, ...members }),
    lines(members),
    sent('application/json', JSON.stringify({ points: [{ lat: 9.5, lng: 38.5, ...members }] })),
  ]
})

export const longNumbers = attackOf(
  'long-numbers',
  'sends numbers with 1,000 spaces or 20,000 digits in them',
  () => [
    { path: '/advisory/yield/point', body: { lat: `9${' '.repeat(1000)}9`, lng: 38.5 } },
    csv(`lat,lng\n9${' '.repeat(1000)}9,38.5\n`),
    sent(
      'application/x-ndjson',
      `{"lat":9.5,"lng":38.5,"note":1.${'0'.repeat(20_000)}1}\n`,
      `${POINTS}?pass=note`,
    ),
  ],
)

export const brokenLines = attackOf(
  'broken-lines',
  'sends 1,000 lines that are no JSON, and bytes that are no text',
  () => [
    sent('application/x-ndjson', `{"lat":9,"lng":38.5,"note":[${'1,'.repeat(400)}\n`.repeat(990)),
    csv(`lat,lng\n9,38.5\n${'\n'.repeat(2 * LONGEST)}x`),
  ],
)
