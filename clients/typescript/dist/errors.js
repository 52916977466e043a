/**
 * The service has refused a call, or could not be reached: then `status` is 0, and `code` `NETWORK_ERROR`, or
 * `INCOMPLETE_ANSWER` where an answer was cut off. The sentence in `message` is for people, `code` for programs.
 */
export class AdvisoryError extends Error {
    name = 'AdvisoryError';
    status;
    code;
    /** Names the call in the service's log; undefined where nothing was answered. */
    requestId;
    details;
    /** After how many seconds it may be tried again, where the service says so. */
    retryAfter;
    constructor(message, { status = 0, code, requestId, details = [], retryAfter, cause, }) {
        super(message, cause === undefined ? undefined : { cause });
        this.status = status;
        this.code = code;
        this.requestId = requestId;
        this.details = details;
        this.retryAfter = retryAfter;
    }
}
/** The error that a refusal says. What stands between may have answered in another form. */
export async function errorOf(response) {
    const { status, headers } = response;
    const body = await response.json().then((value) => (typeof value === 'object' && value !== null ? value : {}), () => ({}));
    return new AdvisoryError(body.error ?? `The answer has the status ${status}.`, {
        status,
        code: body.code ?? 'UNKNOWN_ERROR',
        requestId: body.request_id ?? headers.get('x-request-id') ?? undefined,
        details: body.details ?? [],
        retryAfter: secondsIn(headers.get('retry-after')),
    });
}
/** The seconds that a `Retry-After` header says; undefined where it has none. */
export function secondsIn(header) {
    const seconds = Number.parseInt(header ?? '', 10);
    return Number.isNaN(seconds) ? undefined : seconds;
}
