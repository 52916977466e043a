import { AdvisoryError } from './errors.ts';
/** How often and for how long calls are tried again. */
export interface Retries {
    /** Attempts after the first one. */
    retries: number;
    /** The longest wait before one, in milliseconds. A call that would have to wait longer is given up. */
    maxWaitMs: number;
}
/**
 * Makes a `fetch` that tries again what the service was too busy for, and, where that does no harm, what got no answer.
 * A refusal that stays is answered as it is.
 *
 * @param send may say in an AdvisoryError why there is no answer
 * @throws {AdvisoryError} that one, or NETWORK_ERROR where the service cannot be reached
 * @throws the reason of the request's signal, where it is aborted
 */
export declare function retryingFetch(send: (request: Request) => Promise<Response>, { retries, maxWaitMs }: Retries): (request: Request) => Promise<Response>;
export declare function networkError(cause: unknown): AdvisoryError;
/** Milliseconds until the service says, and part of as much again, so that those who wait do not come back together. */
export declare function waitBefore(attempt: number, answer?: Response): number;
/** @throws the reason of the signal, where it is aborted */
export declare function sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
