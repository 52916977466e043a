import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'

/** What is asked, and how a right answer is told from a wrong one. */
export interface Question {
  name: string
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string
  isRight(status: number, text: string): boolean
}

/** A request that was sent and not answered rightly. */
export interface Failure {
  question: string
  /** Since the traffic began. */
  atMs: number
  reason: string
}

export interface Tally {
  /** Right answers by question. */
  right: Map<string, number>
  failures: Failure[]
}

export interface Traffic {
  /** How many requests have been answered rightly so far. */
  count(): number
  /** Waits for the answers that are under way. */
  stop(): Promise<Tally>
}

/** Longer than the service may take for anything that is asked here. */
const ANSWER_MS = 15_000

/** Before an address that refuses a connection is asked again. */
const REFUSED_MS = 20

/**
 * Asks from many clients at once, each again when it was answered, over connections that are kept as long as the
 * service says so. An address that refuses a connection has got no request: the next one is asked.
 *
 * @param ports of this machine, which are asked by turns
 */
export function startTraffic(ports: number[], questions: Question[], clients: number): Traffic {
  const agent = new Agent({ keepAlive: true })
  const tally: Tally = { right: new Map(), failures: [] }
  const began = performance.now()
  let turn = 0
  let count = 0
  let running = true

  async function ask(question: Question): Promise<void> {
    for (;;) {
      const outcome = await send(agent, ports[turn++ % ports.length] as number, question)
      if (outcome === 'refused') {
        await setTimeout(REFUSED_MS)
        continue
      }
      if (outcome === 'right') {
        count++
        tally.right.set(question.name, (tally.right.get(question.name) ?? 0) + 1)
      } else {
        tally.failures.push({ question: question.name, atMs: performance.now() - began, reason: outcome })
      }
      return
    }
  }

  const underWay = Array.from({ length: clients }, async (_, client) => {
    for (let call = client; running; call++) await ask(questions[call % questions.length] as Question)
  })
  return {
    count: () => count,
    async stop() {
      running = false
      await Promise.all(underWay)
      agent.destroy()
      return tally
    },
  }
}

/** @returns `right`, `refused` where no connection was made, or what went wrong */
function send(agent: Agent, port: number, question: Question): Promise<string> {
  const { method, path, headers, body = '' } = question
  return new Promise((resolve) => {
    const length = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(
      { host: '127.0.0.1', port, method, path, agent, headers: { ...headers, ...(body && length) } },
      (response) => void read(response).then(resolve),
    )
    sent.setTimeout(ANSWER_MS, () => sent.destroy(new Error(`no answer within ${ANSWER_MS} ms`)))
    sent.once('error', ({ code, message }: NodeJS.ErrnoException) => {
      const over = sent.reusedSocket ? 'a kept connection' : 'a new connection'
      resolve(code === 'ECONNREFUSED' ? 'refused' : `${message} on ${over}`)
    })
    sent.end(body)
  })

  async function read(response: IncomingMessage): Promise<string> {
    let text = ''
    try {
      for await (const chunk of response.setEncoding('utf8')) text += chunk
    } catch (error) {
      return `an answer that broke off: ${(error as Error).message}`
    }
    if (question.isRight(response.statusCode as number, text)) return 'right'
    return response.statusCode === 200 ? 'a wrong answer' : `status ${response.statusCode}`
  }
}
