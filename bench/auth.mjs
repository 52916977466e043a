// Measures logins on a running service: whether an unknown e-mail can be told from a wrong password by
// the time of the answer, and what 200 logins at once do to the point endpoints and to the memory.
//
//   TRUSTED_PROXIES=127.0.0.1 npm start       so that each login can come from an address of its own
//   node bench/auth.mjs http://127.0.0.1:3000 PID [ROUNDS]
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'

const [base, pid, rounds = '5'] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const PASSWORD = 'teff grows at dawn'
const PAIRS = 500
const LOGINS = 200
const POINTS_AT_A_TIME = 4

let addresses = 0
const nextAddress = () => `10.${(addresses++ >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`

/** Sends a body, and resolves to the status and the milliseconds that the answer took. */
function post(path, body) {
  const payload = JSON.stringify(body)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(payload),
    'x-forwarded-for': nextAddress(),
  }
  return new Promise((resolve, reject) => {
    const started = performance.now()
    const sent = request(base + path, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => resolve({ status: response.statusCode, ms: performance.now() - started }))
    })
    sent.on('error', reject)
    sent.end(payload)
  })
}

const quantile = (values, part) => values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]
const residentMB = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

const email = `bench-${Date.now()}@example.org`
await post('/auth/register', { email, password: PASSWORD, name: 'Bench' })
for (let count = 0; count < 50; count++) await post('/auth/login', { email, password: PASSWORD })

const times = { wrong: [], unknown: [] }
for (let pair = 0; pair < PAIRS; pair++) {
  const attempts = [
    ['wrong', email],
    ['unknown', `${pair}-${email}`],
  ]
  for (const [kind, as] of pair % 2 ? attempts : attempts.reverse()) {
    const { status, ms } = await post('/auth/login', { email: as, password: 'not the password' })
    if (status !== 401) throw new Error(`a login was answered ${status}`)
    times[kind].push(ms)
  }
}
const [wrong, unknown] = [quantile(times.wrong, 0.5), quantile(times.unknown, 0.5)]
console.log(
  `median of ${PAIRS}: wrong password ${wrong.toFixed(2)} ms, unknown e-mail ${unknown.toFixed(2)} ms, ` +
    `difference ${((100 * Math.abs(wrong - unknown)) / wrong).toFixed(1)} %`,
)

/** Asks for points, a few at a time, until the work is done. */
async function pointsDuring(work) {
  const latencies = []
  let done = false
  const askers = Array.from({ length: POINTS_AT_A_TIME }, async () => {
    while (!done) latencies.push((await post('/advisory/yield/point', { lat: 9.5, lng: 38.5 })).ms)
  })
  await work()
  done = true
  await Promise.all(askers)
  return latencies
}

await pointsDuring(() => setTimeout(2000))
for (let round = 1; round <= Number(rounds); round++) {
  const alone = await pointsDuring(() => setTimeout(2000))
  const before = residentMB()
  let most = before
  const statuses = {}
  let took = 0
  const crowded = await pointsDuring(async () => {
    const watch = setInterval(() => {
      most = Math.max(most, residentMB())
    }, 10)
    const started = performance.now()
    const logins = Array.from({ length: LOGINS }, () => post('/auth/login', { email, password: PASSWORD }))
    for (const { status } of await Promise.all(logins)) statuses[status] = (statuses[status] ?? 0) + 1
    took = performance.now() - started
    clearInterval(watch)
  })
  console.log(
    `round ${round}: points alone p50 ${quantile(alone, 0.5).toFixed(1)} p99 ${quantile(alone, 0.99).toFixed(1)} ms; ` +
      `during ${LOGINS} logins p50 ${quantile(crowded, 0.5).toFixed(1)} p99 ${quantile(crowded, 0.99).toFixed(1)} ms ` +
      `(${crowded.length} points); ${Math.round(took)} ms, ${JSON.stringify(statuses)}, ` +
      `memory ${Math.round(before)} MB, most ${Math.round(most)} MB`,
  )
}
agent.destroy()
