/** The table of tiles that the baseline with one query a request looks its values up in. */
export const RASTER_TABLE = 'bench_raster'

/**
 * Statements that make the table which `raster2pgsql -t 32x32 -I` would make of a file with all layers of a
 * release as its bands: tiles of 32 x 32 pixels, with an index on their outlines.
 */
export function makeRasterTable(release: string): string {
  return `
    create table ${RASTER_TABLE} as
      select st_union(tile.rast) as rast
      from release
      join coverage on coverage.release_id = release.id
      join raster_tile as tile on tile.coverage_id = coverage.id
      where release.code = '${release}'
      group by coverage.id, tile.tile_row / 2, tile.tile_column / 2;
    create index on ${RASTER_TABLE} using gist (st_convexhull(rast))`
}
