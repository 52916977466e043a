/** A path as it was registered, and its method. */
export interface RoutePattern {
  method: string
  route: string
}

/** Anybody can make up paths and methods: they are one. */
export const UNKNOWN_PATH: RoutePattern = { method: 'any', route: 'unknown' }

/** Without what all paths begin with here: dashboards are to know the route elsewhere. */
export function patternOf(
  { method, url = '' }: { method: string | string[]; url?: string | undefined },
  base: string,
): RoutePattern {
  const route = url.startsWith(`${base}/`) ? url.slice(base.length) : url
  return { method: [method].flat().join(), route }
}
