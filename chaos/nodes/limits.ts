import { randomUUID } from 'node:crypto'
import { Answers } from '#bench/load/answers.ts'
import { ask, type Client, type Credentials, type Reply, register } from '#bench/load/client.ts'
import type { Known } from '../load/plan.ts'
import type { Nodes } from './nodes.ts'

type Statuses = Answers['statuses']

/** More than the database lets through of one account from one address. */
const GUESSES = 20

/** What one caller may send to each process, and how many more than all of them together allow are sent. */
export const RATE = 20
const MORE = 5

/** Guesses at the password of one account, all at once, from an address of its own. */
export async function guess(port: number, address: string): Promise<Statuses> {
  const client = { port, address }
  const { email } = await register(client)
  return statusesOf(Array.from({ length: GUESSES }, () => tryLogIn(client, email, randomUUID())))
}

/** Logs in to one account many times at once, and to three others meanwhile, each from an address of its own. */
export async function logInBesideMany(port: number): Promise<{ many: Statuses; others: Statuses }> {
  const accounts = []
  for (let count = 0; count < 4; count++) accounts.push(await register({ port, address: '127.5.1.1' }))
  const [greedy, ...others] = accounts as [Credentials, ...Credentials[]]
  const from = (address: string, { email, password }: Credentials) =>
    tryLogIn({ port, address }, email, password)
  const many = statusesOf(Array.from({ length: 100 }, () => from('127.5.2.1', greedy)))
  const few = statusesOf(others.map((other, index) => from(`127.5.3.${index + 1}`, other)))
  return { many: await many, others: await few }
}

function tryLogIn(client: Client, email: string, password: string): Promise<Reply> {
  return ask(client, { path: '/auth/login', body: { email, password } })
}

/** Asks for a point more often than all processes together allow with a `RATE_LIMIT` of `RATE`. */
export async function askBeyondRate({ port, ports }: Nodes, { path, body = '' }: Known): Promise<Statuses> {
  const replies = []
  for (let sent = 0; sent < RATE * ports.length + MORE; sent++) {
    replies.push(await ask({ port, address: '127.5.4.1' }, { path, body }))
  }
  return statusesOf(replies)
}

async function statusesOf(replies: ({ status: number } | Promise<{ status: number }>)[]): Promise<Statuses> {
  const answers = new Answers()
  for (const { status } of await Promise.all(replies)) answers.count(status)
  return answers.statuses
}
