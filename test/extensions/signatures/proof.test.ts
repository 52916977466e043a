import { execFile } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Proof } from '#src/extensions/signatures/schemas.ts'
import { retireSigningKey } from '#src/extensions/signatures/signing-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { createRandom } from '#test/setup/random.ts'
import { gridOf, layerOf, operatorOf, releaseDescription, releaseOn } from '#test/setup/releases.ts'
import { hasTileFiles, moveRelease } from '#test/setup/tile-files.ts'

/** More on demand: `PROOFS=1000`. */
const ANSWERS = Number(process.env.PROOFS ?? 200)

const makeKey = () => {
  const { privateKey } = generateKeyPairSync('ed25519')
  return String(privateKey.export({ format: 'pem', type: 'pkcs8' }))
}

/** A proof, the text of the header of its release, and the root that is known of it. */
interface Case {
  proof: Proof
  lng: number
  lat: number
  header: string
  root: string
}

type Placed = Pick<Case, 'proof' | 'lng' | 'lat'>

interface Verdict {
  error?: string
  values?: [label: (string | null)[], value: number][]
}

const RUNNER = `
import json, sys, verify
for line in sys.stdin:
    case = json.loads(line)
    try:
        assert case["proof"]["merkle_root"] == case["root"]
        values = [
            [label, value]
            for label, value in verify.check(case["proof"], case["header"], case["lng"], case["lat"])
        ]
        print(json.dumps({"values": values}))
    except Exception as error:
        print(json.dumps({"error": type(error).__name__}))
`

/** The program of the guide, for many proofs in one process. */
async function verifyAll(cases: Case[]): Promise<Verdict[]> {
  const folder = await newFolder()
  const guide = await readFile('docs/guide/signatures.md', 'utf8')
  const [, program = ''] = /cat >verify\.py <<'END'\n([\s\S]*?)\nEND\n/.exec(guide) ?? []
  await writeFile(join(folder, 'verify.py'), program)
  await writeFile(join(folder, 'runner.py'), RUNNER)
  const running = promisify(execFile)('python3', ['runner.py'], { cwd: folder, maxBuffer: 2 ** 28 })
  // Together they are longer than a string may be.
  const lines = function* () {
    for (const one of cases) yield `${JSON.stringify(one)}\n`
  }
  Readable.from(lines()).pipe(running.child.stdin as NodeJS.WritableStream)
  const { stdout } = await running
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

function flipBit(text: string, bit: number): string {
  const bytes = Buffer.from(text, 'base64url')
  const at = bit % (bytes.length * 8)
  bytes[at >> 3] = (bytes[at >> 3] as number) ^ (1 << (at & 7))
  return bytes.toString('base64url')
}

/** A bit that counts: a number of single precision has 23 of them. */
function flipNumber(
  number: number | null,
  precision: Proof['pixels'][number]['precision'],
  bit: number,
): number {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(number || 1)
  const at = precision === 'single' ? 29 + (bit % 23) : bit % 52
  bytes[7 - (at >> 3)] = (bytes[7 - (at >> 3)] as number) ^ (1 << (at & 7))
  return bytes.readDoubleBE()
}

/** The proof with one bit changed, once in each of its parts. */
function damaged(right: Case, bit: number): Case[] {
  const { proof, header, lng, lat } = right
  const changed = (change: (copy: Proof) => void): Case => {
    const copy = structuredClone(proof)
    change(copy)
    return { ...right, proof: copy }
  }
  const ofPixels = proof.pixels.flatMap((_, at) => {
    const pixelOf = (copy: Proof) => copy.pixels[at] as Proof['pixels'][number]
    const { path, raw, precision } = pixelOf(proof)
    return [
      ...(['grid', 'row'] as const).map((name) =>
        changed((copy) => {
          pixelOf(copy)[name] ^= 1 << (bit % 3)
        }),
      ),
      // Lower bits name another pixel of the run, which the proof is of as well.
      changed((copy) => {
        pixelOf(copy).column ^= 8 << (bit % 3)
      }),
      ...path.map((step, index) =>
        changed((copy) => {
          pixelOf(copy).path[index] = flipBit(step, bit)
        }),
      ),
      ...(raw[0] as number[]).map((_, band) =>
        changed((copy) => {
          const numbers = pixelOf(copy).raw[(bit + band) % raw.length] as (number | null)[]
          numbers[band] = flipNumber(numbers[band] as number | null, precision, bit)
        }),
      ),
      // The same numbers in the same order, as if one pixel had all of them.
      ...(raw.length > 1
        ? [
            changed((copy) => {
              pixelOf(copy).raw = [raw.flat(), ...raw.slice(1).map(() => [])]
            }),
          ]
        : []),
      changed((copy) => pixelOf(copy).path.pop()),
    ]
  })
  const at = bit % header.length
  const other = String.fromCharCode(header.charCodeAt(at) ^ 1)
  return [
    ...ofPixels,
    changed((copy) => {
      copy.merkle_root = flipBit(copy.merkle_root, bit)
    }),
    changed((copy) => {
      copy.release = `${copy.release.slice(0, -1)}${String.fromCharCode(copy.release.charCodeAt(copy.release.length - 1) ^ 1)}`
    }),
    { ...right, header: header.slice(0, at) + other + header.slice(at + 1) },
    changed((copy) => {
      copy.pixels = []
    }),
    changed((copy) => {
      copy.pixels = [...copy.pixels, ...copy.pixels]
    }),
    // Another place has other pixels; a projected grid does not say where they are.
    ...(JSON.parse(header).grids[0].srid === 4326
      ? [
          { ...right, lng: lng + 2 },
          { ...right, lat: lat - 2 },
        ]
      : []),
  ]
}

type Service = Pick<TestApp, 'app'>

/** By OpenSSL itself, without the package that signs. */
async function isSigned({ app }: Service, { merkle_root, signature, kid }: Proof): Promise<boolean> {
  const { body } = await call(app, 'GET /.well-known/jwks.json')
  const jwk = body.keys.find((key: { kid: string }) => key.kid === kid)
  const [head = '', , signed = ''] = (signature as string).split('.')
  if (!jwk || JSON.parse(Buffer.from(head, 'base64url').toString()).kid !== kid) return false
  const { kty, crv, x } = jwk
  const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
  return verify(null, Buffer.from(`${head}.${merkle_root}`), key, Buffer.from(signed, 'base64url'))
}

async function readRelease({ app }: Service, code: string): Promise<Omit<Case, keyof Placed>> {
  const { body } = await call(app, `GET /releases/${code}`)
  return { header: body.merkle_header, root: body.merkle_root }
}

/** The proofs of an answer, with what is public of their releases. */
async function casesOf(service: Service, placed: Placed[]): Promise<Case[]> {
  return Promise.all(
    placed.map(async (one) => ({ ...one, ...(await readRelease(service, one.proof.release)) })),
  )
}

async function ask(service: Service, path: string, sent?: Sent) {
  const answer = await call(service.app, `GET /advisory/${path}`, sent)
  expect(answer.status, answer.text).toBe(200)
  return answer
}

/** The clock of caches is the process's; what a process knows of its key is for ten seconds. */
async function tenSecondsLater(work: () => Promise<void>): Promise<void> {
  const clock = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock() + 10_000)
  await work().finally(() => spy.mockRestore())
}

describe('with the demo data', () => {
  const service = openService({ settings: { SIGNING_KEY: makeKey() } })

  test(`${ANSWERS} answers are proven without the service, and a bit of none can change`, async () => {
    const draw = createRandom(7)
    const releases = new Map<string, Omit<Case, keyof Placed>>()
    const cases: Case[] = []
    const entries: [label: string, value: number][][] = []
    const sizes: number[] = []
    let answers = 0
    while (answers < ANSWERS) {
      const [lat, lng] = [Number((3.5 + draw() * 11).toFixed(5)), Number((33 + draw() * 14).toFixed(5))]
      const { status, body } = await call(service.app, `GET /advisory/point?lat=${lat}&lng=${lng}&proof=true`)
      if (status !== 200) continue
      answers++
      expect(body.proof).not.toBeNull()
      for (const proof of body.proof as Proof[]) {
        if (!releases.has(proof.release))
          releases.set(proof.release, await readRelease(service, proof.release))
        cases.push({ proof, lng, lat, ...(releases.get(proof.release) as Omit<Case, keyof Placed>) })
        sizes.push(JSON.stringify(proof).length)
        const product = PRODUCTS.of(proof.release.split('-')[1] as string)
        entries.push(
          body[product.code][product.entries].map((entry: Record<string, string | number | null>) => {
            const { scenario = null, condition = null, [product.value.key]: value } = entry
            const input = product.input ? entry[product.input.key] : null
            return [JSON.stringify([input, scenario, condition, null]), value]
          }),
        )
      }
    }
    const verdicts = await verifyAll(cases)
    expect(verdicts.filter(({ error }) => error !== undefined)).toEqual([])
    for (const [index, { values = [] }] of verdicts.entries()) {
      const proven = new Map(values.map(([label, value]) => [JSON.stringify(label), value]))
      const said = entries[index] as [label: string, value: number][]
      expect(said.length).toBeGreaterThan(0)
      for (const [label, value] of said) expect(proven.get(label)).toBe(value)
    }
    const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length
    console.log(`a proof has ${Math.round(average)} bytes, at most ${Math.max(...sizes)}`)

    const wrong = cases.flatMap((one, index) =>
      index % 7 === 0 ? damaged(one, Math.floor(draw() * 4096)) : [],
    )
    const found = await verifyAll(wrong)
    expect(wrong.filter((_, index) => found[index]?.error === undefined)).toEqual([])
    expect(found.length).toBeGreaterThan(ANSWERS)

    const signed = [...new Map(cases.map(({ proof }) => [proof.release, proof])).values()]
    for (const proof of signed) {
      expect(await isSigned(service, proof)).toBe(true)
      const signature = proof.signature as string
      const cut = signature.lastIndexOf('.') + 1
      for (const bit of [0, 77, 511]) {
        const flipped = signature.slice(0, cut) + flipBit(signature.slice(cut), bit)
        expect(await isSigned(service, { ...proof, signature: flipped })).toBe(false)
        expect(await isSigned(service, { ...proof, merkle_root: flipBit(proof.merkle_root, bit) })).toBe(
          false,
        )
      }
    }
  })

  const QUERY = 'lat=9.5&lng=38.5'

  test('it is told where it is asked for, of each product, and is kept with the answer', async () => {
    const plain = await ask(service, `yield/point?${QUERY}`)
    expect(plain.body).not.toHaveProperty('proof')
    const { proof, ...rest } = (await ask(service, `yield/point?${QUERY}&proof=true`)).body
    expect(rest).toEqual(plain.body)
    expect(proof).toHaveLength(1)
    const posted = await call(service.app, 'POST /advisory/yield/point', {
      payload: { lat: 9.5, lng: 38.5, proof: true },
    })
    expect(posted.body.proof).toEqual(proof)
    const all = await ask(service, `point?${QUERY}&proof=true`)
    expect(all.body.proof).toHaveLength(4)
    expect(all.body.proof[0]).toEqual(proof[0])

    const { person: by } = service
    const { history_id, ...kept } = (await ask(service, `yield/point?${QUERY}&proof=true`, { by })).body
    const { body: item } = await call(service.app, `GET /history/${history_id}`, { by })
    expect(item).toMatchObject({ request: { proof: true }, answer: kept })
  })

  test.each([
    ['yield/points?proof=true', { points: [{ lat: 9.45, lng: 38.3 }] }],
    ['yield', { admin: { country_code: 'eth', code: 'ETH-01' }, proof: true }],
    ['yield/polygons?proof=true', { admin: { country_code: 'eth', level: 1 } }],
  ])('where many pixels answer it is refused: %s', async (path, payload) => {
    const { status, body } = await call(service.app, `POST /advisory/${path}`, {
      by: service.person,
      payload,
    })
    expect([status, body.error]).toEqual([400, 'proof must be left out: pixels are told of one point alone.'])
  })

  test('a table refuses it, and a text does not have it', async () => {
    const refused = await call(service.app, `GET /advisory/yield/point?${QUERY}&format=csv&proof=true`)
    expect([refused.status, refused.body.details[0].field]).toEqual([400, 'proof'])
    const text = await ask(service, `yield/point?${QUERY}&format=text`)
    const asked = await ask(service, `yield/point?${QUERY}&format=text&proof=true`)
    expect(asked.text).toBe(text.text)
  })

  test('keys are public, and a retired one signs no more ten seconds later', async () => {
    const [before] = (await ask(service, `yield/point?${QUERY}&proof=true`)).body.proof
    const keys = await call(service.app, 'GET /.well-known/jwks.json')
    expect(keys.headers['cache-control']).toMatch(/^public/)
    expect(keys.body.keys).toEqual([
      { kty: 'OKP', crv: 'Ed25519', x: expect.any(String), kid: before.kid, use: 'sig', alg: 'EdDSA' },
    ])
    expect(keys.text).not.toContain('"d"')
    await service.database.writer.transaction().execute((trx) => retireSigningKey(trx, before.kid))
    await tenSecondsLater(async () => {
      const [after] = (await ask(service, `yield/point?${QUERY}&proof=true`)).body.proof
      expect(after).toEqual({ ...before, kid: null, signature: null })
    })
    const { body } = await call(service.app, 'GET /.well-known/jwks.json')
    expect(body.keys).toEqual([{ ...keys.body.keys[0], retired_at: expect.any(String) }])
    expect(await isSigned(service, before)).toBe(true)
  })
})

describe('of numbers in the middle between two', () => {
  const service = openService({ template: 'empty' })

  test('the program rounds as the service does', async () => {
    const pixels = Float32Array.from({ length: 64 }, (_, at) => (at - 32) / 8)
    const layer = { ...layerOf(''), input: null, scale: 0.5, offset: 0, decimals: 1 }
    const grid = gridOf(4326, [38, 10], [0.1, -0.1], [8, 8])
    await loadRelease(service.database, releaseOn(grid, [layer], [pixels], { product: 'yield' }))
    const placed: Placed[] = []
    const said: number[] = []
    for (const at of pixels.keys()) {
      const [lat, lng] = [9.95 - Math.floor(at / 8) / 10, 38.05 + (at % 8) / 10]
      const { body } = await ask(service, `yield/point?lat=${lat}&lng=${lng}&proof=true`)
      placed.push({ proof: body.proof[0], lng, lat })
      said.push(body.yield_data[0].yield_kg_ha)
    }
    const verdicts = await verifyAll(await casesOf(service, placed))
    expect(verdicts.map(({ values = [] }) => values[0]?.[1])).toEqual(said)
  })
})

/** A grid in UTM 37N beside one in degrees; odd sizes, gaps, and tiles without any value. */
const UTM = gridOf(32637, [400_000, 1_060_000], [250, -250], [403, 391])
const DEGREES = gridOf(4326, [38, 10], [0.01, -0.01], [97, 83])

/** What means no value in rasters of floats. */
const LOWEST = -3.4028234663852886e38

const storedAt = (index: number, band: number) =>
  (index + band) % 5 === 0 ? null : Math.fround(index / 3 - 1000)

function projected(): ReleaseSource {
  const coverage = (grid: typeof UTM, inputs: string[], scale: number) => ({
    grid,
    layers: inputs.map((input) => layerOf(input, { scale, offset: -1, pixelType: '32BF', nodata: LOWEST })),
    windows: [{ column: 0, row: 0, width: grid.width, height: grid.height }],
    read: async () =>
      inputs.map((_, band) =>
        Float32Array.from({ length: grid.width * grid.height }, (_, index) => {
          const [column, row] = [index % grid.width, Math.floor(index / grid.width)]
          return column < 40 && row < 40 ? LOWEST : (storedAt(index, band) ?? LOWEST)
        }),
      ),
  })
  return {
    description: releaseDescription(),
    coverages: [coverage(UTM, ['Urea', 'NPS'], 0.5), coverage(DEGREES, ['DAP'], 2)],
  }
}

async function askPlaced({ app }: Pick<TestApp, 'app'>, many: number): Promise<Placed[]> {
  const draw = createRandom(3)
  const placed: Placed[] = []
  while (placed.length < many) {
    const [lat, lng] = [Number((9.2 + draw() * 0.75).toFixed(5)), Number((38.05 + draw() * 0.9).toFixed(5))]
    const { status, body } = await call(
      app,
      `GET /advisory/fertilizer/point?lat=${lat}&lng=${lng}&proof=true`,
    )
    if (status === 200) placed.push(...(body.proof as Proof[]).map((proof) => ({ proof, lng, lat })))
  }
  return placed
}

async function askMany(service: Pick<TestApp, 'app'>, many: number): Promise<Proof[]> {
  return (await askPlaced(service, many)).map(({ proof }) => proof)
}

describe('of a release with a grid in metres and one in degrees', () => {
  const service = openService({ template: 'empty' })
  let code: string
  beforeAll(async () => {
    code = (await loadRelease(service.database, projected())).code
  })

  test('both are proven, and without a key there is no signature', async () => {
    const placed = await askPlaced(service, 100)
    const proofs = placed.map(({ proof }) => proof)
    expect(new Set(proofs.flatMap(({ pixels }) => pixels.map(({ grid }) => grid)))).toEqual(new Set([1, 2]))
    expect(new Set(proofs.map(({ kid, signature }) => kid ?? signature))).toEqual(new Set([null]))
    const cases = await casesOf(service, placed)
    expect((await verifyAll(cases)).filter(({ error }) => error)).toEqual([])
    const wrong = cases.slice(0, 20).flatMap((one, index) => damaged(one, index))
    expect((await verifyAll(wrong)).filter(({ error }) => !error)).toEqual([])
  })

  test('pixels of a run have the same proof, and each its own value', async () => {
    const proofs: Proof[] = []
    for (const lng of [38.505, 38.515]) {
      const { body } = await ask(service, `fertilizer/point?lat=9.505&lng=${lng}&proof=true`)
      proofs.push(...body.proof)
    }
    const [left, right] = proofs.map(({ pixels }) => pixels.find(({ grid }) => grid === 2))
    expect(left).toMatchObject({ column: 50, row: 49 })
    expect(right).toEqual({ ...left, column: 51 })
    const index = 49 * DEGREES.width + 48
    const raw = Array.from({ length: 8 }, (_, pixel) => [storedAt(index + pixel, 0)])
    expect(left?.raw.map(([number]) => number && Math.fround(number))).toEqual(raw.flat())
    expect(left?.precision).toBe('single')
  })

  test('what an older version has loaded has none, and gets the same in the background', async () => {
    const before = await askMany(service, 10)
    const { database, app } = service
    await database.pool.query('delete from release_proof; delete from proof_node')
    expect(await readRelease(service, code)).toEqual({ header: null, root: null })
    const { body } = await ask(service, 'fertilizer/point?lat=9.5&lng=38.5&proof=true')
    expect(body.proof).toBeNull()
    app.jobs.wake('hash-releases')
    await vi.waitFor(async () => expect((await readRelease(service, code)).root).not.toBeNull(), PATIENCE)
    expect(await askMany(service, 10)).toEqual(before)
  })

  test('a deleted release keeps its root', async () => {
    const before = await readRelease(service, code)
    await operatorOf(service.database).remove(code, true)
    expect(await readRelease(service, code)).toEqual(before)
    const { rows } = await service.database.pool.query('select from proof_node')
    expect(rows).toEqual([])
  })
})

describe.runIf(hasTileFiles)('of a release with its tiles in files', () => {
  let service: TestApp
  let code: string
  beforeAll(async () => {
    const folder = await newFolder()
    service = await createTestApp({
      template: 'empty',
      settings: {
        TILE_STORE: String(pathToFileURL(join(folder, 'tiles'))),
        SIGNING_KEY: makeKey(),
        RELEASE_MAX_AGE_MS: '0',
      },
      async prepare(database) {
        code = (await loadRelease(database, projected())).code
      },
    })
  })
  afterAll(() => service.close())

  async function hashAgain(): Promise<void> {
    await service.database.pool.query('delete from release_proof; delete from proof_node')
    service.app.jobs.wake('hash-releases')
    await vi.waitFor(async () => expect((await readRelease(service, code)).root).not.toBeNull(), PATIENCE)
  }

  test('it is the same when moved into the database and hashed from either', async () => {
    const before = await askMany(service, 30)
    const known = await readRelease(service, code)
    const placed = await askPlaced(service, 30)
    expect((await verifyAll(await casesOf(service, placed))).filter(({ error }) => error)).toEqual([])
    await hashAgain()
    expect([await readRelease(service, code), await askMany(service, 30)]).toEqual([known, before])
    const { cluster, database } = service
    // The embedded database has one connection.
    const maintenance = cluster.kind === 'server' ? cluster.connectForMaintenance() : database
    await moveRelease(maintenance, code, 'postgis')
    if (maintenance !== database) await maintenance.close()
    expect(await askMany(service, 30)).toEqual(before)
    await hashAgain()
    expect([await readRelease(service, code), await askMany(service, 30)]).toEqual([known, before])
  })
})
