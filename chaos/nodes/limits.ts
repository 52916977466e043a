import { randomUUID } from 'node:crypto'
import { ask } from '#bench/client.ts'
import { client } from '../load/load.ts'
import type { Known } from '../load/plan.ts'
import type { Nodes } from './nodes.ts'

/** How many of those that were sent were answered with each status. */
type Statuses = Record<number, number>

/** More than the database lets through of one account from one address. */
const GUESSES = 20

/** What one caller may send to each process, and how many more than all of them together allow are sent. */
export const RATE = 20
const MORE = 5

/** Guesses at the password of one account, all at once, from an address of its own. */
export async function guess(port: number, address: string): Promise<Statuses> {
  const email = `${randomUUID()}@example.org`
  const person = { email, password: randomUUID(), name: 'Chaos' }
  await ask({ ...client(port), address }, { path: '/auth/register', body: JSON.stringify(person) })
  return statusesOf(
    Array.from({ length: GUESSES }, () =>
      ask(
        { ...client(port), address },
        { path: '/auth/login', body: JSON.stringify({ email, password: randomUUID() }) },
      ),
    ),
  )
}

/** Logs in to one account many times at once, and to three others meanwhile, each from an address of its own. */
export async function logInBesideMany(port: number): Promise<{ many: Statuses; others: Statuses }> {
  const register = async () => {
    const person = { email: `${randomUUID()}@example.org`, password: randomUUID(), name: 'Chaos' }
    await ask(
      { ...client(port), address: '127.5.1.1' },
      { path: '/auth/register', body: JSON.stringify(person) },
    )
    return JSON.stringify(person)
  }
  const [greedy, ...others] = [await register(), await register(), await register(), await register()]
  const logIn = (body: string, address: string) =>
    ask({ ...client(port), address }, { path: '/auth/login', body })
  const many = statusesOf(Array.from({ length: 100 }, () => logIn(greedy, '127.5.2.1')))
  const few = statusesOf(others.map((body, index) => logIn(body, `127.5.3.${index + 1}`)))
  return { many: await many, others: await few }
}

/** Asks for a point more often than all processes together allow with a `RATE_LIMIT` of `RATE`. */
export async function askBeyondRate({ port, ports }: Nodes, { path, body = '' }: Known): Promise<Statuses> {
  const replies = []
  for (let sent = 0; sent < RATE * ports.length + MORE; sent++) {
    replies.push(await ask({ ...client(port), address: '127.5.4.1' }, { path, body }))
  }
  return statusesOf(replies)
}

async function statusesOf(replies: ({ status: number } | Promise<{ status: number }>)[]): Promise<Statuses> {
  const statuses: Statuses = {}
  for (const { status } of await Promise.all(replies)) statuses[status] = (statuses[status] ?? 0) + 1
  return statuses
}
