import { readFileSync } from 'node:fs'

/** Of the service: in package.json and nowhere else. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string }
