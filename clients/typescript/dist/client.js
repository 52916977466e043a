import createClient, {} from 'openapi-fetch';
import { answersOf, answersTo, incomplete } from './batches.js';
import { errorOf } from './errors.js';
import { IDEMPOTENT_POSTS } from './idempotent-posts.js';
import { retryingFetch, sleep, waitBefore } from './retries.js';
const NDJSON = 'application/x-ndjson';
/** Bodies with many places have fewer bytes than the service takes of somebody without a token. */
const MOST_BYTES = 900_000;
export function createAdvisoryClient(options) {
    return new AdvisoryClient(options);
}
/**
 * Asks the service. Calls are tried again where it is too busy or cannot be reached, at most four times and as it says when;
 * what is kept in the history has an `Idempotency-Key`, and is there once. All methods throw an `AdvisoryError` where
 * they have no answer, and the reason of their signal where that is aborted.
 */
export class AdvisoryClient {
    /** All operations of the service, typed by its document: `const { data, error } = await api.GET('/catalog')`. */
    api;
    #base;
    #key;
    #fetch;
    /** As `#fetch`, and an answer that was cut off is as good as none. */
    #fetchWhole;
    #retries;
    constructor({ baseUrl, key, fetch: send, retries = 4, maxWaitMs = 30_000 }) {
        this.#base = baseUrl.replace(/\/+$/, '');
        this.#key = key;
        this.#retries = { retries, maxWaitMs };
        const sendOnce = send ?? ((request) => fetch(request));
        this.#fetch = retryingFetch(sendOnce, this.#retries);
        this.#fetchWhole = retryingFetch(async (request) => whole(await sendOnce(request)), this.#retries);
        this.api = createClient({ baseUrl: this.#base, fetch: this.#fetch });
        this.api.use({
            onRequest: async ({ request, schemaPath }) => {
                await this.#sign(request.headers);
                if (request.method === 'POST' && IDEMPOTENT_POSTS.includes(schemaPath))
                    nameOnce(request.headers);
                return request;
            },
        });
    }
    /** Advice for one point. */
    async point(product, request, options = {}) {
        return this.#answer(`/advisory/${product}/point`, request, options);
    }
    /** Advice for a polygon or an administrative area; needs a key. */
    async polygon(product, request, options = {}) {
        return this.#answer(`/advisory/${product}`, request, options);
    }
    /**
     * Advice for any number of points, in their order: `for await (const item of client.points('yield', points))`. They go out in
     * groups, each when the answers to those before it were taken. An item without data has `error` and `code`. Items of
     * different groups may come of different releases, where one is published meanwhile: each says its `release`.
     *
     * @param points also of a generator, which is read as they are needed
     */
    points(product, points, { crop, country_code, forecast_period, batchSize = 1000, signal } = {}) {
        const query = queryOf({ crop, country_code, forecast_period });
        return answersTo(points, {
            ...this.#retries,
            count: batchSize,
            bytes: MOST_BYTES,
            signal,
            ask: (texts) => this.#post(`/advisory/${product}/points${query}`, {
                body: texts.join('\n'),
                type: NDJSON,
                accept: NDJSON,
                signal,
            }),
        });
    }
    /** Advice for any number of polygons, as {@link points} for points; needs a key. */
    polygons(product, polygons, { crop, country_code, forecast_period, batchSize = 100, signal } = {}) {
        const query = queryOf({ crop, country_code, forecast_period });
        return answersTo(polygons, {
            ...this.#retries,
            count: batchSize,
            bytes: MOST_BYTES,
            signal,
            ask: (texts) => this.#post(`/advisory/${product}/polygons${query}`, {
                body: `{"type":"FeatureCollection","features":[${texts.join(',')}]}`,
                type: 'application/geo+json',
                accept: NDJSON,
                signal,
            }),
        });
    }
    /**
     * Advice for all administrative areas of a level, or for those within `parent`, in the order of their codes; needs a key.
     * Where the answer is cut off, the areas are asked for again, and those that were answered are left out.
     */
    async *areas(product, admin, { crop, forecast_period, signal } = {}) {
        const ask = () => this.#post(`/advisory/${product}/polygons`, {
            body: JSON.stringify({ admin, crop, forecast_period }),
            type: 'application/json',
            accept: NDJSON,
            signal,
        });
        const { retries, maxWaitMs } = this.#retries;
        const answered = new Set();
        for (let attempt = 1;; attempt++) {
            const { items, stopped } = answersOf({ ask, signal }, []);
            for await (const item of items) {
                const { id } = item;
                if (answered.has(id))
                    continue;
                answered.add(id);
                attempt = 1;
                yield item;
            }
            if (stopped() === undefined)
                return;
            if (attempt > retries)
                throw incomplete(stopped());
            await sleep(Math.min(waitBefore(attempt), maxWaitMs), signal);
        }
    }
    async #answer(path, request, { signal }) {
        const json = 'application/json';
        const response = await this.#post(path, {
            body: JSON.stringify(request),
            type: json,
            accept: json,
            signal,
            once: true,
        });
        if (!response.ok)
            throw await errorOf(response);
        return (await response.json());
    }
    /** @param once whether the service keeps what it answers: that is to be there once, and is read whole before it is given */
    async #post(path, { body, type, accept, signal, once = false, }) {
        const headers = new Headers({ 'content-type': type, accept });
        await this.#sign(headers);
        if (once)
            nameOnce(headers);
        const init = { method: 'POST', headers, body };
        const request = new Request(this.#base + path, signal ? { ...init, signal } : init);
        return once ? this.#fetchWhole(request) : this.#fetch(request);
    }
    async #sign(headers) {
        if (headers.has('authorization'))
            return;
        const key = typeof this.#key === 'function' ? await this.#key() : this.#key;
        if (key)
            headers.set('authorization', `Bearer ${key}`);
    }
}
/**
 * An answer whose body is there to its end. Of a refusal, what is there says enough.
 *
 * @throws {AdvisoryError} INCOMPLETE_ANSWER
 */
async function whole(answer) {
    if (!answer.ok)
        return answer;
    await answer
        .clone()
        .arrayBuffer()
        .catch((cause) => {
        throw incomplete(cause);
    });
    return answer;
}
/** Gives a request a name by which the service knows it again. */
function nameOnce(headers) {
    if (headers.has('idempotency-key'))
        return;
    // `randomUUID` is only there where a page came by HTTPS.
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    headers.set('idempotency-key', [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(''));
}
function queryOf(parameters) {
    const given = Object.entries(parameters).filter((entry) => entry[1] != null);
    return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
