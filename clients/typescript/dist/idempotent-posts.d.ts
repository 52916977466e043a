/** The paths whose POST takes an `Idempotency-Key`. */
export declare const IDEMPOTENT_POSTS: readonly string[];
