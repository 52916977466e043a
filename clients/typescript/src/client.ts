import createClient, { type Client } from 'openapi-fetch'
import { answersOf, answersTo, incomplete } from './batches.ts'
import { errorOf } from './errors.ts'
import { IDEMPOTENT_POSTS } from './idempotent-posts.ts'
import { type Retries, retryingFetch, sleep, waitBefore } from './retries.ts'
import type { paths } from './schema.ts'
import type {
  AreaSelection,
  BatchOptions,
  CallOptions,
  Point,
  PointAnswer,
  PointItem,
  PointRequest,
  PolygonAnswer,
  PolygonFeature,
  PolygonItem,
  PolygonRequest,
  Product,
  Season,
} from './types.ts'

const NDJSON = 'application/x-ndjson'

/** Bodies with many places have fewer bytes than the service takes of somebody without a token. */
const MOST_BYTES = 900_000

export interface ClientOptions extends Partial<Retries> {
  /** Where the service is, such as `https://advisory.example.org`. */
  baseUrl: string
  /**
   * An API key or an access token; a function is asked before each call. Points are answered without it, polygons are not.
   * In a browser, who looks can read it.
   */
  key?: string | (() => string | Promise<string>) | undefined
  /** Sends requests in the place of the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined
}

export function createAdvisoryClient(options: ClientOptions): AdvisoryClient {
  return new AdvisoryClient(options)
}

/**
 * Asks the service. Calls are tried again where it is too busy or cannot be reached, at most four times and as it says when;
 * what is kept in the history has an `Idempotency-Key`, and is there once. All methods throw an `AdvisoryError` where
 * they have no answer, and the reason of their signal where that is aborted.
 */
export class AdvisoryClient {
  /** All operations of the service, typed by its document: `const { data, error } = await api.GET('/catalog')`. */
  readonly api: Client<paths>
  readonly #base: string
  readonly #key: ClientOptions['key']
  readonly #fetch: (request: Request) => Promise<Response>
  /** As `#fetch`, and an answer that was cut off is as good as none. */
  readonly #fetchWhole: (request: Request) => Promise<Response>
  readonly #retries: Retries

  constructor({ baseUrl, key, fetch: send, retries = 4, maxWaitMs = 30_000 }: ClientOptions) {
    this.#base = baseUrl.replace(/\/+$/, '')
    this.#key = key
    this.#retries = { retries, maxWaitMs }
    const sendOnce = send ?? ((request: Request) => fetch(request))
    this.#fetch = retryingFetch(sendOnce, this.#retries)
    this.#fetchWhole = retryingFetch(async (request) => whole(await sendOnce(request)), this.#retries)
    this.api = createClient<paths>({ baseUrl: this.#base, fetch: this.#fetch })
    this.api.use({
      onRequest: async ({ request, schemaPath }) => {
        await this.#sign(request.headers)
        if (request.method === 'POST' && IDEMPOTENT_POSTS.includes(schemaPath)) nameOnce(request.headers)
        return request
      },
    })
  }

  /** Advice for one point. */
  async point<P extends Product>(
    product: P,
    request: PointRequest,
    options: CallOptions = {},
  ): Promise<PointAnswer<P>> {
    return this.#answer(`/advisory/${product}/point`, request, options)
  }

  /** Advice for a polygon or an administrative area; needs a key. */
  async polygon<P extends Product>(
    product: P,
    request: PolygonRequest<P>,
    options: CallOptions = {},
  ): Promise<PolygonAnswer<P>> {
    return this.#answer(`/advisory/${product}`, request, options)
  }

  /**
   * Advice for any number of points, in their order: `for await (const item of client.points('yield', points))`. They go out in
   * groups, each when the answers to those before it were taken. An item without data has `error` and `code`. Items of
   * different groups may come of different releases, where one is published meanwhile: each says its `release`.
   *
   * @param points also of a generator, which is read as they are needed
   */
  points<P extends Product>(
    product: P,
    points: Iterable<Point> | AsyncIterable<Point>,
    { crop, country_code, forecast_period, batchSize = 1000, signal }: Season & BatchOptions = {},
  ): AsyncGenerator<PointItem<P>, void, void> {
    const query = queryOf({ crop, country_code, forecast_period })
    return answersTo<PointItem<P>>(points, {
      ...this.#retries,
      count: batchSize,
      bytes: MOST_BYTES,
      signal,
      ask: (texts) =>
        this.#post(`/advisory/${product}/points${query}`, {
          body: texts.join('\n'),
          type: NDJSON,
          accept: NDJSON,
          signal,
        }),
    })
  }

  /** Advice for any number of polygons, as {@link points} for points; needs a key. */
  polygons<P extends Product>(
    product: P,
    polygons: Iterable<PolygonFeature> | AsyncIterable<PolygonFeature>,
    { crop, country_code, forecast_period, batchSize = 100, signal }: Season & BatchOptions = {},
  ): AsyncGenerator<PolygonItem<P>, void, void> {
    const query = queryOf({ crop, country_code, forecast_period })
    return answersTo<PolygonItem<P>>(polygons, {
      ...this.#retries,
      count: batchSize,
      bytes: MOST_BYTES,
      signal,
      ask: (texts) =>
        this.#post(`/advisory/${product}/polygons${query}`, {
          body: `{"type":"FeatureCollection","features":[${texts.join(',')}]}`,
          type: 'application/geo+json',
          accept: NDJSON,
          signal,
        }),
    })
  }

  /**
   * Advice for all administrative areas of a level, or for those within `parent`, in the order of their codes; needs a key.
   * Where the answer is cut off, the areas are asked for again, and those that were answered are left out.
   */
  async *areas<P extends Product>(
    product: P,
    admin: AreaSelection,
    { crop, forecast_period, signal }: Omit<Season, 'country_code'> & CallOptions = {},
  ): AsyncGenerator<PolygonItem<P>, void, void> {
    const ask = () =>
      this.#post(`/advisory/${product}/polygons`, {
        body: JSON.stringify({ admin, crop, forecast_period }),
        type: 'application/json',
        accept: NDJSON,
        signal,
      })
    const { retries, maxWaitMs } = this.#retries
    const answered = new Set<unknown>()
    for (let attempt = 1; ; attempt++) {
      const { items, stopped } = answersOf<PolygonItem<P>>({ ask, signal }, [])
      for await (const item of items) {
        const { id } = item as { id?: unknown }
        if (answered.has(id)) continue
        answered.add(id)
        attempt = 1
        yield item
      }
      if (stopped() === undefined) return
      if (attempt > retries) throw incomplete(stopped())
      await sleep(Math.min(waitBefore(attempt), maxWaitMs), signal)
    }
  }

  async #answer<Body>(path: string, request: object, { signal }: CallOptions): Promise<Body> {
    const json = 'application/json'
    const response = await this.#post(path, {
      body: JSON.stringify(request),
      type: json,
      accept: json,
      signal,
      once: true,
    })
    if (!response.ok) throw await errorOf(response)
    return (await response.json()) as Body
  }

  /** @param once whether the service keeps what it answers: that is to be there once, and is read whole before it is given */
  async #post(
    path: string,
    {
      body,
      type,
      accept,
      signal,
      once = false,
    }: { body: string; type: string; accept: string; signal: AbortSignal | undefined; once?: boolean },
  ): Promise<Response> {
    const headers = new Headers({ 'content-type': type, accept })
    await this.#sign(headers)
    if (once) nameOnce(headers)
    const init = { method: 'POST', headers, body }
    const request = new Request(this.#base + path, signal ? { ...init, signal } : init)
    return once ? this.#fetchWhole(request) : this.#fetch(request)
  }

  async #sign(headers: Headers): Promise<void> {
    if (headers.has('authorization')) return
    const key = typeof this.#key === 'function' ? await this.#key() : this.#key
    if (key) headers.set('authorization', `Bearer ${key}`)
  }
}

/**
 * An answer whose body is there to its end. Of a refusal, what is there says enough.
 *
 * @throws {AdvisoryError} INCOMPLETE_ANSWER
 */
async function whole(answer: Response): Promise<Response> {
  if (!answer.ok) return answer
  await answer
    .clone()
    .arrayBuffer()
    .catch((cause: unknown) => {
      throw incomplete(cause)
    })
  return answer
}

/** Gives a request a name by which the service knows it again. */
function nameOnce(headers: Headers): void {
  if (headers.has('idempotency-key')) return
  // `randomUUID` is only there where a page came by HTTPS.
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  headers.set('idempotency-key', [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(''))
}

function queryOf(parameters: Record<string, string | null | undefined>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] != null)
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
