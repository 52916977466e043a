// Written by `npm run gen` from openapi.yaml: change the routes, not this.

/** The paths whose POST takes an `Idempotency-Key`. */
export const IDEMPOTENT_POSTS: readonly string[] = [
  "/advisory/yield/point",
  "/advisory/fertilizer/point",
  "/advisory/isfm/point",
  "/advisory/forage/point",
  "/advisory/point",
  "/advisory/yield",
  "/advisory/fertilizer",
  "/advisory/isfm",
  "/advisory/forage",
  "/subscriptions",
  "/subscriptions/{id}/secret",
  "/history/{id}/feedback",
  "/auth/register",
  "/auth/keys"
];
