/**
 * Holds each page to Lighthouse on its phone profile: accessibility, best practices and performance. Needs Chromium, the
 * registry, and a machine that does nothing else.
 *
 *     npm run judge-pages -- http://127.0.0.1:3000
 *     npm run judge-pages -- http://127.0.0.1:3000 /docs
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { WEB_PAGES } from '#src/http/plugins/web-pages.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'

/** The last one for Node 20. */
const LIGHTHOUSE = 'lighthouse@12.8.2'

const LEAST_SCORES = { accessibility: 100, 'best-practices': 100, performance: 90 }

/** Where the processor draws a map, as it does under Lighthouse. */
const LEAST_WITH_MAP = { ...LEAST_SCORES, performance: 75 }

/** Pages without a script of their own. */
const OTHERS = ['/docs', '/docs/guide', '/docs/rules', '/ogc?f=html']

interface Report {
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>
  audits: Record<string, { score: number | null; title: string; displayValue?: string; details?: object }>
}

const [url = 'http://127.0.0.1:3000', ...named] = process.argv.slice(2)
if (CHROMIUM === undefined) throw new Error('There is no Chromium: CHROME_PATH says where it is.')
const pages = [...WEB_PAGES, ...EXTENSIONS.flatMap(({ pages = [] }) => pages)]
const paths = named.length > 0 ? named : [...pages.map(({ path }) => path), ...OTHERS]
for (const path of paths) judge(path, await measure(url + path))

async function measure(address: string): Promise<Report> {
  const { stdout } = await promisify(execFile)(
    'npx',
    [
      ...['--yes', LIGHTHOUSE, address, '--quiet', '--output=json'],
      `--only-categories=${Object.keys(LEAST_SCORES).join()}`,
      '--chrome-flags=--headless=new --no-sandbox --disable-background-networking',
    ],
    { env: { ...process.env, CHROME_PATH: CHROMIUM }, maxBuffer: 2 ** 26 },
  )
  return JSON.parse(stdout)
}

/** Prints the scores, and under those that are too low the audits that cost them. */
function judge(path: string, { categories, audits }: Report): void {
  const hasMap = JSON.stringify(audits['network-requests']?.details ?? {}).includes('maplibre-gl.mjs')
  for (const [name, least] of Object.entries(hasMap ? LEAST_WITH_MAP : LEAST_SCORES)) {
    const { score = 0, auditRefs = [] } = categories[name] ?? {}
    const percent = Math.round(score * 100)
    console.log(`${path} ${name}: ${percent}`)
    if (percent >= least) continue
    process.exitCode = 1
    for (const { id, weight } of auditRefs) {
      const { score = null, title = id, displayValue = '' } = audits[id] ?? {}
      if (weight > 0 && score !== null && score < 1) console.error(`  ${id}: ${title} ${displayValue}`)
    }
  }
}
