import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { ask, type Client, type Sent } from '#bench/load/client.ts'
import { until } from '#bench/load/loops.ts'
import { flood, floodWithoutToken } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'
import { DOOR } from '../targets.ts'

const CONNECTIONS = 20

/** More than a sender may send in a day. */
const MESSAGES = 60

/** Letters of a message; more are not read. */
const LONGEST = 1000

const numberOf = (index: number) => `+2519${String(index).padStart(8, '0')}`

/** Numbers that no earlier attack has sent from. */
let used = 0

function messageOf(from: string, text: string): Sent {
  const query = new URLSearchParams({ secret: DOOR.SMS_SECRET, id: randomUUID(), from, text })
  return { method: 'GET', path: `/messages/sms?${query}` }
}

/**
 * Somebody who knows the secret of the door for SMS, and sends messages over and over.
 *
 * @param next the number and the text of a message
 * @param ahead so many are sent before
 */
const attackOf = (
  name: string,
  attacker: string,
  next: (index: number) => [from: string, text: string],
  ahead = 0,
): Scenario => ({
  name,
  attacker: `knows the secret of the door for SMS, and ${attacker} over ${CONNECTIONS} connections`,
  victims: ['kept point', 'history'],
  begin(target) {
    let index = 0
    return floodWithoutToken(target, CONNECTIONS, () => messageOf(...next(index++)), ahead)
  },
})

/** Honest people who write meanwhile; their gateway sends each message again until this. */
const OTHERS = 10
const ANSWERED_WITHIN_MS = 15_000
const AGAIN_MS = 500

/** Whether a message is answered in time, tried again as gateways do. */
const isAnswered = (gateway: Client, message: Sent): Promise<boolean> =>
  until(async () => (await ask(gateway, message)).status === 200, ANSWERED_WITHIN_MS, AGAIN_MS)

const STOPPING = 60

export const messagesStop: Scenario = {
  name: 'messages-stop',
  attacker: `knows the secret of the door for SMS, and sends STOP from ever new numbers over ${STOPPING} connections`,
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const [thief, gateway] = [await newcomer(), { ...(await newcomer()), token: undefined }]
    const { stop } = flood([{ ...thief, token: undefined }], STOPPING, () =>
      messageOf(numberOf(used++), 'STOP'),
    )
    await setTimeout(AGAIN_MS)
    const messages = Array.from({ length: OTHERS }, () => messageOf(numberOf(used++), 'HELP'))
    const answering = Promise.all(messages.map((message) => isAnswered(gateway, message)))
    return {
      async stop() {
        const value = (await answering).filter((one) => !one).length
        await stop()
        const what = `of ${OTHERS} others not answered within ${ANSWERED_WITHIN_MS / 1000} s`
        return [{ what, value, unit: '', limit: 0 }]
      },
    }
  },
}

const positionAt = (index: number) =>
  `${(9 + (index % 97) / 100).toFixed(2)} ${(38 + (index % 89) / 100).toFixed(2)}`

export const messagesFlood = attackOf('messages-flood', 'sends each message from another number', (index) => [
  numberOf(used++),
  `wheat ${positionAt(index)}`,
])

const ONE = numberOf(99_999_999)

export const messagesOfOne = attackOf(
  'messages-of-one',
  'sends all messages from one number',
  (index) => [ONE, `wheat ${positionAt(index)}`],
  MESSAGES,
)

const MISSPELT = [
  'yeild fishe',
  'whaet nort shewa',
  'fertlizer adis abeba',
  'compst oromya',
  'forrage tigrai',
]

export const messagesMisspelt = attackOf(
  'messages-misspelt',
  'sends names with errors, each from another number',
  (index) => [numberOf(used++), `${MISSPELT[index % MISSPELT.length]} ${'xyz'[index % 3]}`],
)

export const messagesLong = attackOf(
  'messages-long',
  `sends ${LONGEST} letters, each from another number`,
  () => [numberOf(used++), 'fishe nort shewa amhra '.repeat(LONGEST).slice(0, LONGEST)],
)
