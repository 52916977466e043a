/**
 * How long /validate_location and /admin take, one request at a time, beside a bare Fastify route.
 *
 * node bin/run.mjs bench/places.ts, with DATABASE_URL naming a database that may be written to. The
 * demo and the boundary files of ../shared/data/boundaries are loaded into it first.
 */
import { existsSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { type Cluster, openCluster } from '#src/data/client.ts'
import { migrate } from '#src/data/migrate.ts'
import { loadBoundaries } from '#src/ingest/boundaries/load.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'

const FILES = ['eth 0', 'eth 1', 'eth 2', 'rwa 0', 'rwa 1', 'rwa 2', 'rwa 3', 'gha 0', 'gha 1']
const WARM_UP = 500
const REQUESTS = 3000

interface Call {
  method: 'GET' | 'POST'
  path: string
  body?: object
  headers?: Record<string, string>
}

interface Answer {
  status: number
  etag: string | undefined
  bytes: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

function send(port: number, { method, path, body, headers }: Call): Promise<Answer> {
  const payload = body && JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        port,
        method,
        path,
        headers: {
          ...headers,
          ...(payload && { 'content-type': 'application/json', 'content-length': payload.length }),
        },
      },
      (response) => {
        let bytes = 0
        response.on('data', (chunk) => {
          bytes += chunk.length
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, etag: response.headers.etag, bytes }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(payload)
  })
}

/** Milliseconds that half, and 95 of 100, of the requests stay below. */
async function measure(label: string, port: number, callOf: (index: number) => Call): Promise<void> {
  for (let index = 0; index < WARM_UP; index++) await send(port, callOf(index))
  const times: number[] = []
  let last: Answer | undefined
  for (let index = 0; index < REQUESTS; index++) {
    const started = performance.now()
    last = await send(port, callOf(index))
    times.push(performance.now() - started)
  }
  times.sort((a, b) => a - b)
  const at = (part: number) => (times[Math.floor(part * times.length)] as number).toFixed(2)
  console.log(
    `${label.padEnd(44)} ${last?.status}  p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  ${last?.bytes} bytes`,
  )
}

async function prepare(cluster: Cluster): Promise<void> {
  const database = cluster.connectForMaintenance()
  await migrate(database.writer)
  await seedDemo(database, () => {})
  for (const file of FILES) {
    const [country, level] = file.split(' ') as [string, string]
    const path = `../shared/data/boundaries/${country}_adm${level}.geojson`
    if (!existsSync(path)) throw new Error(`${path} is not there.`)
    await loadBoundaries(database, {
      files: [await openBoundaryFile(path, { level: Number(level) })],
      country,
      level: Number(level),
      properties: {},
      source: 'Bench',
      licence: 'See ../shared/data/SOURCE.md',
      strict: false,
      dryRun: false,
    })
  }
  await database.close()
}

/** Points spread over Rwanda and Ethiopia, the same every time. */
function pointOf(index: number): object {
  const [west, south, width, height] = index % 2 === 0 ? [29.1, -2.6, 1.6, 1.3] : [35, 5, 8, 8]
  return {
    lng: Number((west + ((index * 0.754877) % 1) * width).toFixed(5)),
    lat: Number((south + ((index * 0.56984) % 1) * height).toFixed(5)),
  }
}

async function accessToken(): Promise<string> {
  const account = { email: `bench-${Date.now()}@example.org`, password: 'a bench measures', name: 'Bench' }
  await app.inject({ method: 'POST', url: '/auth/register', payload: account })
  const login = await app.inject({ method: 'POST', url: '/auth/login', payload: account })
  return login.json().access_token
}

const config = loadConfig({
  LOG_LEVEL: 'silent',
  JWT_SECRET: 'for the bench alone '.repeat(2),
  ...process.env,
})
const cluster = await openCluster(config)
await prepare(cluster)
const database = cluster.connect()
const app = await buildApp(config, database)
await app.listen({ port: 0 })
const bare = Fastify()
bare.post('/', async () => ({ valid: true, country_code: 'eth', country: 'Ethiopia' }))
await bare.listen({ port: 0 })

const service = (app.server.address() as AddressInfo).port
const plain = (bare.server.address() as AddressInfo).port
const headers = { authorization: `Bearer ${await accessToken()}` }
const admin: Call = { method: 'GET', path: '/admin?admin0=rwa&level=3', headers }
const { etag } = await send(service, admin)

await measure('bare Fastify route', plain, (index) => ({ method: 'POST', path: '/', body: pointOf(index) }))
await measure('POST /validate_location', service, (index) => ({
  method: 'POST',
  path: '/validate_location',
  headers,
  body: pointOf(index),
}))
await measure('GET /admin, 416 areas', service, () => admin)
await measure('GET /admin, not modified', service, () => ({
  ...admin,
  headers: { ...headers, 'if-none-match': etag as string },
}))
await measure('GET /admin, 416 simplified shapes', service, () => ({
  ...admin,
  path: `${admin.path}&geometry=simplified&format=geojson`,
}))

agent.destroy()
await app.close()
await bare.close()
await database.close()
await cluster.close()
