-- Tiles of coverages as well-known binary, one row each in the order asked for: empty where there is no
-- tile, null where there is no such coverage. One of a release that is not complete counts as none: a replica
-- gets a release bit by bit, and its status last. So does one whose tiles are in files. In PL/pgSQL because a session keeps its plan.
create or replace function tiles_of(coverage_ids bigint[], tile_rows integer[], tile_columns integer[])
returns setof bytea
language plpgsql stable strict parallel safe
as $$
#variable_conflict use_column
begin
  return query
  select case when coverage.id is not null then coalesce(tile.rast::bytea, '') end
  from unnest(coverage_ids, tile_rows, tile_columns) with ordinality
    as wanted (coverage_id, tile_row, tile_column, ordinal)
  left join coverage on coverage.id = wanted.coverage_id
    and exists (
      select from release
      where release.id = coverage.release_id and release.status = 'ready' and release.tile_store = 'postgis'
    )
  left join lateral (
    select rast
    from raster_tile
    where raster_tile.coverage_id = wanted.coverage_id
      and raster_tile.tile_row = wanted.tile_row
      and raster_tile.tile_column = wanted.tile_column
    offset 0
  ) as tile on true
  order by wanted.ordinal;
end
$$;

comment on function tiles_of(bigint[], integer[], integer[]) is
  'Tiles of coverages by row and column, as well-known binary; one row for each that is asked for.';
