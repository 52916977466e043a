import { AdvisoryError } from './errors.ts';
import { type Retries } from './retries.ts';
/** What a call with many places needs. */
export interface Batch extends Retries {
    /** Asks about some of them; the answer is NDJSON. */
    ask(texts: string[]): Promise<Response>;
    count: number;
    /** Fewer than the service takes of somebody without a token. */
    bytes: number;
    signal: AbortSignal | undefined;
}
/**
 * The answers for any number of places, in their order: one call after the other, each only when its first answer is asked for.
 * Where an answer is cut off, those that are missing are asked for again.
 *
 * @throws {AdvisoryError} where a call is refused, all places of the first one are, or one is cut off without getting on
 */
export declare function answersTo<Item>(sent: Iterable<unknown> | AsyncIterable<unknown>, batch: Batch): AsyncGenerator<Item, void, void>;
/** The answers of one call as far as they come, and then why there are no more. */
export declare function answersOf<Item>({ ask, signal }: Pick<Batch, 'ask' | 'signal'>, texts: string[]): {
    items: AsyncGenerator<Item, void, void>;
    stopped: () => unknown;
};
export declare function incomplete(cause: unknown): AdvisoryError;
