import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { deflateRaw } from 'node:zlib'
import { findLastDay, type ProductDefinition } from '#schemas/products/define.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import { escaped, renderHtml } from '#src/http/plain-page.ts'
import { readBundles } from '#src/http/plugins/web-pages.ts'
import { cacheValue } from '#src/lib/cache.ts'
import { makeReleaseMembers, type PublishedRelease } from '#src/lookup/releases.ts'
import { type Legend, makeLegend, nameComparison } from '#src/maps/legends.ts'
import { labelLayer, listLayers } from '#src/maps/published.ts'
import { findPixelType } from '#src/raster/pixels.ts'
import { type PackContent, type PackSources, tooLargeArea } from './content.ts'
import type { PackGrid } from './pixels.ts'
import {
  encodePack,
  type PackedContent,
  type PackedMap,
  type PackedProduct,
  type PackedRelease,
  shuffle,
} from './reading.ts'

const compress = promisify(deflateRaw)

/** An HTML file of a pack is never larger. */
export const MOST_HTML_BYTES = 2_000_000

const WEB = new URL('../../../web/', import.meta.url)

const WHOLE = 'extensions/packs/whole'
const SCRIPT = `${WHOLE}/main.bundle.js`
const STYLES = ['styles/page.css', 'styles/figures.css', 'styles/map.css', `${WHOLE}/pack.css`]

/** The script and the styles of the page, which are the same in all packs. */
const loadPage = cacheValue('page of packs', async () => {
  const script = (await readBundles()).get(SCRIPT)?.text
  if (script === undefined) throw new Error(`the bundle ${SCRIPT} is missing`)
  // The typeface is of the service: a file without a network has letters of the device.
  const styles = STYLES.map((name) =>
    readFileSync(new URL(name, WEB), 'utf8').replaceAll(/@font-face \{[^}]*\}/g, ''),
  )
  // An inline script ends with this text, wherever it is.
  const page = {
    script: script.replaceAll('</script', '<\\/script'),
    style: [...styles, oldColours(styles.join('\n'))].join('\n').replaceAll(/\n\s*/g, '\n'),
  }
  return { ...page, digest: createHash('sha256').update(page.script).update(page.style).digest('base64url') }
})

/** Phones of years ago know no light-dark(): what is one in the styles, as a rule for either scheme. */
function oldColours(styles: string): string {
  const pairs = [...styles.matchAll(/(--[\w-]+): light-dark\((\S+), (\S+)\);/g)]
  const rule = (side: 2 | 3) => `:root { ${pairs.map((pair) => `${pair[1]}: ${pair[side]};`).join(' ')} }`
  return `@supports not (color: light-dark(#000, #fff)) {
    ${rule(2)}
    @media (prefers-color-scheme: dark) { ${rule(3)} }
  }`
}

/** Names the script and the styles, as each pack has them. */
export async function digestPage(): Promise<string> {
  return (await loadPage()).digest
}

/** The pack at the service, where the page may ask for a newer one. */
export type PackVersion = NonNullable<PackedContent['version']>

/**
 * A pack as one HTML file, which needs no network: script, style and data are in it.
 *
 * @param version null for a pack that cannot ask whether there is a newer one
 * @throws {ApiError} TOO_MANY_POINTS beyond {@link MOST_HTML_BYTES}
 */
export async function writePackHtml(
  sources: PackSources,
  content: PackContent,
  version: PackVersion | null,
): Promise<Buffer> {
  const grids = [...new Set(content.series.flatMap((one) => one.grids))]
  const packed = await packContent(sources, content, grids, version)
  const bands: Uint8Array[] = []
  for (const { pixels } of grids.flatMap((grid) => grid.bands)) {
    await sources.pause()
    bands.push(shuffle(pixels))
  }
  const data = (await compress(encodePack(packed, bands), { level: 9 })).toString('base64')
  const { script, style } = await loadPage()
  const html = Buffer.from(
    renderHtml({
      title: `${escaped(content.area.name)} - ${escaped(SERVICE_NAME)}`,
      head: `<meta http-equiv="Content-Security-Policy" content="${createPolicy(script, version)}">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<style>${style}</style>`,
      body: `<div id="page"><noscript><p>This file is read by its own script: allow scripts to see it.</p></noscript></div>
<script type="text/plain" id="pack">${data}</script>
<script>${script}</script>`,
    }),
  )
  if (html.length <= MOST_HTML_BYTES) return html
  throw await tooLargeArea(sources, content.area, {
    unit: 'bytes',
    count: html.length,
    most: MOST_HTML_BYTES,
  })
}

function createPolicy(script: string, version: PackVersion | null): string {
  const hash = createHash('sha256').update(script).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    ...(version ? [`connect-src ${escaped(new URL(version.url).origin)}`] : []),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

async function packContent(
  sources: PackSources,
  { madeAt, serviceUrl, area, crops, series }: PackContent,
  grids: readonly PackGrid[],
  version: PackVersion | null,
): Promise<PackedContent> {
  const products = [...new Set(series.map(({ product }) => product))]
  const releases = [...new Set(series.flatMap(({ release }) => release ?? []))]
  const packed: PackedRelease[] = []
  for (const release of releases) {
    const one = series.find((of) => of.release === release) as PackContent['series'][number]
    packed.push({
      ...(await packRelease(sources, release)),
      grids: one.grids.map((grid) => grids.indexOf(grid)),
    })
  }
  return {
    madeAt,
    serviceUrl,
    version,
    area,
    crops,
    products: products.map(packProduct),
    releases: packed,
    series: series.map(({ product, cropCode, release, reason, leftOut }) => ({
      product: products.indexOf(product),
      crop: cropCode,
      release: release ? releases.indexOf(release) : null,
      reason,
      leftOut,
    })),
    grids: grids.map(({ bands, ...grid }) => ({
      ...grid,
      bands: bands.map(({ pixels, nodata }) => ({ type: findPixelType(pixels), nodata: nodata ?? null })),
    })),
  }
}

function packProduct({
  code,
  entries,
  value,
  input,
  seasonal,
  unit,
  plausible,
  names,
}: ProductDefinition): PackedProduct {
  const { key } = value
  return {
    ...{ code, entries, seasonal, unit, plausible },
    value: { key },
    input: input && { key: input.key },
    values: names.values,
  }
}

async function packRelease(
  sources: PackSources,
  release: PublishedRelease,
): Promise<Omit<PackedRelease, 'grids'>> {
  const { stale: _, ...timeless } = release
  const { code, synthetic, validUntil, source, licence, layers, companions, conditions } = release
  return {
    ...{ code, synthetic, validUntil, source, licence, layers, companions, conditions },
    members: makeReleaseMembers(timeless),
    lastDay: findLastDay(release),
    maps: await packMaps(sources, release),
  }
}

/** The maps of all bands that have classes, in the colours of the service's maps. */
async function packMaps({ app, pause }: PackSources, release: PublishedRelease): Promise<PackedMap[]> {
  const layers = listLayers(release)
  const legends = new Map<string, Legend>()
  const source = { db: app.database.reader, stores: app.tiles, pause }
  const maps: PackedMap[] = []
  for (const [band, layer] of layers.entries()) {
    if (layer.role === 'share') continue
    const key = nameComparison(layer)
    const legend =
      legends.get(key) ??
      (await makeLegend(source, { release, layers, layer, seasons: undefined, cut: 'quantiles' }))
    legends.set(key, legend)
    const { classes } = legend
    if (classes.length > 0) maps.push({ band, label: labelLayer(layer), unit: layer.unit, classes })
  }
  return maps
}
