import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { fieldsOf, type Member } from '#bench/load/client.ts'
import { until } from '#bench/load/loops.ts'
import type { Attack, Figure, Scenario, Target } from '../scenario.ts'

/** Answers of receivers. Who is gone gets its last event once more when it is enabled again, whenever that is. */
const GONE = 'HTTP/1.1 410 Gone\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'
const SILENCE = ''
const TAKEN = 'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n'

/** Nobody else asks for these, and they are withdrawn so that there are events. */
const ISFM = {
  release: 'synthetic-isfm-eth-wheat-2026-07-v1',
  subject: { product: 'isfm', country_code: 'eth', crop: 'wheat', lat: 9.5, lng: 38.5 },
}
const FORAGE = {
  release: 'synthetic-forage-eth-v1',
  subject: { product: 'forage', country_code: 'eth', lat: 9.5, lng: 38.5 },
}

/** Of the attacker: as many as run at once of an account. */
const RECEIVERS = 4
const OTHERS = 8
/** Others are told within so long, though all of them subscribe and are told at once. */
const TOLD_WITHIN_MS = 5000
const EVENTS_WITHIN_MS = 60_000
const POLL_MS = 100

/** A receiver at each address of 127.0.0.0/8: for the service these are hosts. */
async function openReceiver() {
  const sockets = new Set<Socket>()
  const receiver = { port: 0, answer: GONE, told: new Set<string>(), close }
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.once('data', () => {
      receiver.told.add(socket.localAddress as string)
      socket.write(receiver.answer)
    })
  }).listen(0)
  await once(server, 'listening')
  receiver.port = (server.address() as AddressInfo).port
  function close() {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return receiver
}

type Receiver = Awaited<ReturnType<typeof openReceiver>>

interface Subscriber {
  member: Member
  ids: string[]
}

let hosts = 0

/** Somebody who has subscribed so often, each time at another host. */
async function subscribe(
  { newcomer }: Target,
  subject: object,
  { port }: Receiver,
  times: number,
): Promise<Subscriber> {
  const member = await newcomer()
  const ids: string[] = []
  for (let time = 0; time < times; time++) {
    const url = `http://127.77.${++hosts >> 8}.${hosts & 255}:${port}/`
    const body = { ...subject, threshold: { kind: 'absolute', value: 0 }, url }
    ids.push((await fieldsOf(member, { path: '/subscriptions', body })).id as string)
  }
  return { member, ids }
}

async function enable({ member, ids }: Subscriber): Promise<void> {
  for (const id of ids) await fieldsOf(member, { path: `/subscriptions/${id}/enable` })
}

const isDisabled = async ({ member, ids }: Subscriber): Promise<boolean> => {
  const states = await Promise.all(
    ids.map((id) => fieldsOf(member, { method: 'GET', path: `/subscriptions/${id}` })),
  )
  return states.every(({ status }) => status === 'disabled')
}

const untold = (value: number): Figure => ({
  what: `others not told within ${TOLD_WITHIN_MS / 1000} s`,
  value,
  unit: '',
  limit: 0,
})

/** @param accounts of the attacker @param answer of all their receivers */
async function attack(
  target: Target,
  { release, subject }: typeof ISFM | typeof FORAGE,
  accounts: number,
  answer: string,
): Promise<Attack> {
  if (!target.withdraw) return { stop: async () => [] }
  const [theirs, others] = [await openReceiver(), await openReceiver()]
  const attackers = await Promise.all(
    Array.from({ length: accounts }, () => subscribe(target, subject, theirs, RECEIVERS)),
  )
  const victims = await Promise.all(
    Array.from({ length: OTHERS }, () => subscribe(target, subject, others, 1)),
  )
  await target.withdraw(release)
  const everybody = [...attackers, ...victims]
  const areDisabled = async () => (await Promise.all(everybody.map(isDisabled))).every(Boolean)
  // Places may all be held since an attack before.
  if (!(await until(areDisabled, EVENTS_WITHIN_MS, POLL_MS))) return { stop: async () => [untold(OTHERS)] }
  theirs.answer = answer
  theirs.told.clear()
  others.answer = TAKEN
  others.told.clear()
  await Promise.all(attackers.map(enable))
  // They hold all that they get.
  await until(() => theirs.told.size >= RECEIVERS * Math.min(accounts, 2), TOLD_WITHIN_MS, POLL_MS)
  await Promise.all(victims.map(enable))
  const began = performance.now()
  const waiting = until(() => others.told.size === OTHERS, TOLD_WITHIN_MS, POLL_MS).then(
    () => performance.now() - began,
  )
  return {
    async stop(): Promise<Figure[]> {
      const seconds = (await waiting) / 1000
      const left = OTHERS - others.told.size
      theirs.close()
      others.close()
      return [
        untold(left),
        { what: 'the last of them', value: seconds, unit: ' s', limit: TOLD_WITHIN_MS / 1000 },
      ]
    },
  }
}

export const webhookUpgrades: Scenario = {
  name: 'webhook-upgrades',
  attacker: 'has two accounts, whose receivers of webhooks upgrade their connections',
  victims: [],
  begin: (target) => attack(target, ISFM, 2, UPGRADED),
}

export const webhookSilence: Scenario = {
  name: 'webhook-silence',
  attacker: 'has twelve accounts, whose 48 receivers of webhooks say nothing',
  victims: [],
  begin: (target) => attack(target, FORAGE, 12, SILENCE),
}
