-- The pixels of coverages at points, one row a point in their order: the values of all bands as they
-- are stored, null for none; no bands where there is no tile; null where there is no such coverage, which
-- one of a release that is not complete counts as (see tiles_of).
--
-- In PL/pgSQL because a session keeps its plan from call to call, behind a connection pooler as well.
-- Each tile is fetched by its key (offset 0 keeps it so: without statistics a planner may begin with
-- all the tiles), and its header is changed to have it in memory: otherwise every ST_Value would fetch
-- and unpack it anew.
create or replace function pixel_values(
  coverage_ids bigint[],
  longitudes double precision[],
  latitudes double precision[]
) returns setof double precision[]
language plpgsql stable strict parallel safe
as $$
#variable_conflict use_column
begin
  return query
  select case when found.coverage_id is not null then array(
    select st_value(found.rast, band, found.column_in_tile, found.row_in_tile)
    from generate_series(1, st_numbands(found.rast)) as band
  ) end
  from (
    select
      wanted.ordinal,
      coverage.id as coverage_id,
      st_setsrid(tile.rast, 0) as rast,
      cell.pixel_column % coverage.tile_size + 1 as column_in_tile,
      cell.pixel_row % coverage.tile_size + 1 as row_in_tile
    from unnest(coverage_ids, longitudes, latitudes) with ordinality
      as wanted (coverage_id, longitude, latitude, ordinal)
    left join coverage on coverage.id = wanted.coverage_id
      and exists (
      select from release
      where release.id = coverage.release_id and release.status = 'ready' and release.tile_store = 'postgis'
    )
    left join lateral coverage_cell(coverage, wanted.longitude, wanted.latitude) as cell on true
    left join lateral (
      select rast
      from raster_tile
      where raster_tile.coverage_id = coverage.id
        and raster_tile.tile_row = cell.pixel_row / coverage.tile_size
        and raster_tile.tile_column = cell.pixel_column / coverage.tile_size
      offset 0
    ) as tile on true
    offset 0
  ) as found
  order by found.ordinal;
end
$$;

comment on function pixel_values(bigint[], double precision[], double precision[]) is
  'The stored pixels of coverages at longitudes and latitudes (WGS 84), one row a point and one value a band.';
