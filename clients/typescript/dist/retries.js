import { AdvisoryError, secondsIn } from './errors.js';
/** The first wait where the service does not say; each further one is twice as long. */
const FIRST_WAIT_MS = 250;
/** What the service says of a call that it has not done, or that is under way still. */
const BUSY = new Set([409, 429, 503]);
/**
 * Makes a `fetch` that tries again what the service was too busy for, and, where that does no harm, what got no answer.
 * A refusal that stays is answered as it is.
 *
 * @param send may say in an AdvisoryError why there is no answer
 * @throws {AdvisoryError} that one, or NETWORK_ERROR where the service cannot be reached
 * @throws the reason of the request's signal, where it is aborted
 */
export function retryingFetch(send, { retries, maxWaitMs }) {
    return async (request) => {
        for (let attempt = 0;; attempt++) {
            const isLast = attempt >= retries;
            const outcome = await send(isLast ? request : request.clone()).catch((cause) => {
                request.signal.throwIfAborted();
                return cause instanceof AdvisoryError ? cause : networkError(cause);
            });
            const isLost = outcome instanceof AdvisoryError;
            const wait = waitBefore(attempt + 1, isLost ? undefined : outcome);
            const isOver = isLast || wait > maxWaitMs;
            if (isLost) {
                if (isOver || !isRepeatable(request))
                    throw outcome;
            }
            else {
                if (isOver || !isBusy(request, outcome))
                    return outcome;
                await outcome.body?.cancel();
            }
            await sleep(wait, request.signal);
        }
    };
}
export function networkError(cause) {
    return new AdvisoryError('The service cannot be reached.', { code: 'NETWORK_ERROR', cause });
}
/** Whether a call does the same work once, however often it is sent. */
function isRepeatable({ method, headers, url }) {
    return (method !== 'POST' || headers.has('idempotency-key') || /\/(points|polygons)$/.test(new URL(url).pathname));
}
/** A conflict is one that passes where another attempt of the same request is under way: that has a `Retry-After`. */
function isBusy(request, { status, headers }) {
    if (status === 409)
        return headers.has('retry-after');
    return status === 429 || (BUSY.has(status) && isRepeatable(request));
}
/** Milliseconds until the service says, and part of as much again, so that those who wait do not come back together. */
export function waitBefore(attempt, answer) {
    const seconds = answer && secondsIn(answer.headers.get('retry-after'));
    const wait = seconds === undefined ? FIRST_WAIT_MS * 2 ** (attempt - 1) : seconds * 1000;
    return wait * (1 + Math.random() / 2);
}
/** @throws the reason of the signal, where it is aborted */
export function sleep(milliseconds, signal) {
    return new Promise((resolve, reject) => {
        const stop = () => {
            clearTimeout(timer);
            reject(signal?.reason);
        };
        const timer = setTimeout(() => {
            signal?.removeEventListener('abort', stop);
            resolve();
        }, milliseconds);
        if (signal?.aborted)
            stop();
        else
            signal?.addEventListener('abort', stop, { once: true });
    });
}
