import { type Client } from 'openapi-fetch';
import { type Retries } from './retries.ts';
import type { paths } from './schema.ts';
import type { AreaSelection, BatchOptions, CallOptions, Point, PointAnswer, PointItem, PointRequest, PolygonAnswer, PolygonFeature, PolygonItem, PolygonRequest, Product, Season } from './types.ts';
export interface ClientOptions extends Partial<Retries> {
    /** Where the service is, such as `https://advisory.example.org`. */
    baseUrl: string;
    /**
     * An API key or an access token; a function is asked before each call. Points are answered without it, polygons are not.
     * In a browser, who looks can read it.
     */
    key?: string | (() => string | Promise<string>) | undefined;
    /** Sends requests in the place of the global `fetch`. */
    fetch?: ((request: Request) => Promise<Response>) | undefined;
}
export declare function createAdvisoryClient(options: ClientOptions): AdvisoryClient;
/**
 * Asks the service. Calls are tried again where it is too busy or cannot be reached, at most four times and as it says when;
 * what is kept in the history has an `Idempotency-Key`, and is there once. All methods throw an `AdvisoryError` where
 * they have no answer, and the reason of their signal where that is aborted.
 */
export declare class AdvisoryClient {
    #private;
    /** All operations of the service, typed by its document: `const { data, error } = await api.GET('/catalog')`. */
    readonly api: Client<paths>;
    constructor({ baseUrl, key, fetch: send, retries, maxWaitMs }: ClientOptions);
    /** Advice for one point. */
    point<P extends Product>(product: P, request: PointRequest, options?: CallOptions): Promise<PointAnswer<P>>;
    /** Advice for a polygon or an administrative area; needs a key. */
    polygon<P extends Product>(product: P, request: PolygonRequest<P>, options?: CallOptions): Promise<PolygonAnswer<P>>;
    /**
     * Advice for any number of points, in their order: `for await (const item of client.points('yield', points))`. They go out in
     * groups, each when the answers to those before it were taken. An item without data has `error` and `code`. Items of
     * different groups may come of different releases, where one is published meanwhile: each says its `release`.
     *
     * @param points also of a generator, which is read as they are needed
     */
    points<P extends Product>(product: P, points: Iterable<Point> | AsyncIterable<Point>, { crop, country_code, forecast_period, batchSize, signal }?: Season & BatchOptions): AsyncGenerator<PointItem<P>, void, void>;
    /** Advice for any number of polygons, as {@link points} for points; needs a key. */
    polygons<P extends Product>(product: P, polygons: Iterable<PolygonFeature> | AsyncIterable<PolygonFeature>, { crop, country_code, forecast_period, batchSize, signal }?: Season & BatchOptions): AsyncGenerator<PolygonItem<P>, void, void>;
    /**
     * Advice for all administrative areas of a level, or for those within `parent`, in the order of their codes; needs a key.
     * Where the answer is cut off, the areas are asked for again, and those that were answered are left out.
     */
    areas<P extends Product>(product: P, admin: AreaSelection, { crop, forecast_period, signal }?: Omit<Season, 'country_code'> & CallOptions): AsyncGenerator<PolygonItem<P>, void, void>;
}
