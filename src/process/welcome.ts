import type { Config } from '#src/config.ts'
import type { Announcer } from '#src/lib/announcer.ts'

/** Says where the service is and what to try. */
export function welcome(
  announcer: Announcer,
  { HOST, BASE_PATH, WORKERS }: Config,
  { port, seconds, synthetic }: { port: number; seconds: number; synthetic: boolean },
): void {
  const url = `${originOf(HOST, port)}${BASE_PATH}`
  const workers = WORKERS > 1 ? `, with ${WORKERS} workers` : ''
  announcer.say(`ready in ${seconds.toFixed(1)} s${workers}`, { url })
  announcer.show(`
  API   ${url}
  Docs  ${url}/docs
  Try   curl -X POST '${url}/advisory/fertilizer/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth'
`)
  if (synthetic) {
    announcer.show(
      '  Synthetic demo data are published: made by a formula, not advice. Answers computed from them',
    )
    announcer.show('  say "synthetic": true.\n')
  }
}

/** Says where the metrics are, where they are served. */
export function tellScrapers(
  announcer: Announcer,
  { METRICS_HOST }: Config,
  scraped: { port: number } | undefined,
): void {
  if (scraped) announcer.say(`metrics at ${originOf(METRICS_HOST, scraped.port)}/metrics`)
}

function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
