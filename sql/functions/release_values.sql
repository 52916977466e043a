-- The values of all layers of a release at a point, in the layers' order; null where a layer has none.
--
-- In PL/pgSQL because a session keeps its plan from call to call; that of a function in SQL is made
-- anew in every statement, which takes longer than running it. The tile is found before the layers are
-- joined (offset 0 keeps it so): without statistics a planner may begin with all the tiles.
create or replace function release_values(
  release_id bigint,
  longitude double precision,
  latitude double precision
) returns double precision[]
language plpgsql stable strict parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select array_agg(
      st_value(found.rast, layer.band, found.column_in_tile, found.row_in_tile) * layer.scale
        + layer."offset"
      order by layer.ordinal
    )
    from (
      select
        coverage.id as coverage_id,
        tile.rast,
        cell.pixel_column % coverage.tile_size + 1 as column_in_tile,
        cell.pixel_row % coverage.tile_size + 1 as row_in_tile
      from coverage
      left join lateral coverage_cell(coverage, longitude, latitude) as cell on true
      left join raster_tile as tile
        on tile.coverage_id = coverage.id
        and tile.tile_row = cell.pixel_row / coverage.tile_size
        and tile.tile_column = cell.pixel_column / coverage.tile_size
      where coverage.release_id = release_values.release_id
      offset 0
    ) as found
    join layer on layer.coverage_id = found.coverage_id
  );
end
$$;

comment on function release_values(bigint, double precision, double precision) is
  'The values of a release''s layers at a longitude and latitude (WGS 84), in the layers'' units and order.';
