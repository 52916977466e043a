import type { components } from './schema.ts';
type ErrorBody = components['schemas']['Error'];
/** What is wrong with single parameters. */
export type ErrorDetails = NonNullable<ErrorBody['details']>;
/**
 * The service has refused a call, or could not be reached: then `status` is 0, and `code` `NETWORK_ERROR`, or
 * `INCOMPLETE_ANSWER` where an answer was cut off. The sentence in `message` is for people, `code` for programs.
 */
export declare class AdvisoryError extends Error {
    readonly name = "AdvisoryError";
    readonly status: number;
    readonly code: string;
    /** Names the call in the service's log; undefined where nothing was answered. */
    readonly requestId: string | undefined;
    readonly details: ErrorDetails;
    /** After how many seconds it may be tried again, where the service says so. */
    readonly retryAfter: number | undefined;
    constructor(message: string, { status, code, requestId, details, retryAfter, cause, }: {
        status?: number;
        code: string;
        requestId?: string | undefined;
        details?: ErrorDetails;
        retryAfter?: number | undefined;
        cause?: unknown;
    });
}
/** The error that a refusal says. What stands between may have answered in another form. */
export declare function errorOf(response: Response): Promise<AdvisoryError>;
/** The seconds that a `Retry-After` header says; undefined where it has none. */
export declare function secondsIn(header: string | null): number | undefined;
export {};
