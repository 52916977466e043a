import type { components, paths } from './schema.ts';
type Schemas = components['schemas'];
/** A product that there is advice on: `yield`, `fertilizer` ... */
export type Product = keyof paths extends infer Path ? Path extends `/advisory/${infer Name}/points` ? Name : never : never;
type Answer<Operation> = Operation extends {
    responses: {
        200: {
            content: {
                'application/json': infer Body;
            };
        };
    };
} ? Body : never;
type Sent<Operation> = Operation extends {
    requestBody?: {
        content: {
            'application/json': infer Body;
        };
    };
} ? Body : never;
type Item<Body> = Body extends {
    items: (infer One)[];
} ? One : never;
/** What is asked about one point. */
export type PointRequest = Schemas['PointRequest'];
/** What is answered for one point. */
export type PointAnswer<P extends Product> = Answer<paths[`/advisory/${P}/point`]['post']>;
/** What is asked about a polygon or an administrative area. */
export type PolygonRequest<P extends Product> = Sent<paths[`/advisory/${P}`]['post']>;
/** What is answered for it. */
export type PolygonAnswer<P extends Product> = Answer<paths[`/advisory/${P}`]['post']>;
type ReadPoint = Schemas['PointsRequest']['points'][number];
/** One of many points. Coordinates may be text, as tables have them; ids stay as they are. */
export type Point = Omit<ReadPoint, 'lat' | 'lng'> & {
    lat: number | string;
    lng: number | string;
};
/** What is answered for one of many points: its data, or `error` and `code` that say why there are none. */
export type PointItem<P extends Product> = Item<Answer<paths[`/advisory/${P}/points`]['post']>>;
/** One of many polygons. */
export type PolygonFeature = Schemas['PolygonCollection']['features'][number];
/** What is answered for one of many polygons or areas: its data, or `error` and `code` that say why there are none. */
export type PolygonItem<P extends Product> = Item<Answer<paths[`/advisory/${P}/polygons`]['post']>>;
/** The administrative areas of a level, or those of them within `parent`. */
export type AreaSelection = Schemas['AreasSelection'];
/** Which release answers. What is left out is as the service has it: wheat in Ethiopia, the newest forecast. */
export type Season = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>;
export interface CallOptions {
    /** Ends the call, and the waits between its attempts; it is rejected with the signal's reason. */
    signal?: AbortSignal | undefined;
}
export interface BatchOptions extends CallOptions {
    /**
     * How many go into one call at most: 1,000 points or 100 polygons where it is left out. The service takes 1,000 points, or
     * 20,000 with a token, and 1,000 polygons.
     */
    batchSize?: number | undefined;
}
export {};
