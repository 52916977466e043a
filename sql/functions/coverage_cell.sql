-- The pixel of a coverage that a point lies in, or no row where it lies outside the grid.
--
-- GDAL's rule for the nearest pixel: floor((x - origin) / pixel size), so that a point on the edge of
-- two pixels belongs to the later one. The extent is asked first, with a margin for the bulge of a
-- projected grid's edges, because a transformation far outside its domain is an error.
create or replace function coverage_cell(
  coverage coverage,
  longitude double precision,
  latitude double precision
) returns table (pixel_column integer, pixel_row integer)
language sql immutable parallel safe
as $$
  select floor(fraction.x)::integer, floor(fraction.y)::integer
  from (
    select case
      when coverage.srid = 4326 then st_makepoint(longitude, latitude)
      when longitude between coverage.west - 0.1 and coverage.east + 0.1
        and latitude between coverage.south - 0.1 and coverage.north + 0.1
        then st_transform(st_setsrid(st_makepoint(longitude, latitude), 4326), coverage.srid)
    end as point
    offset 0
  ) as located
  cross join lateral (
    select
      (st_x(located.point) - coverage.origin_x) / coverage.pixel_width as x,
      (st_y(located.point) - coverage.origin_y) / coverage.pixel_height as y
  ) as fraction
  where fraction.x >= 0 and fraction.x < coverage.width
    and fraction.y >= 0 and fraction.y < coverage.height
$$;

comment on function coverage_cell(coverage, double precision, double precision) is
  'The pixel (column and row from 0) of a coverage that a longitude and latitude (WGS 84) lie in.';
