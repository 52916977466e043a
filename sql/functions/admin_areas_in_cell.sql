-- The areas of all countries and levels that meet a cell, borders included, each with as much of its shape as may
-- be needed to tell whether a point of the cell lies in it: the pieces that meet the cell; null where one of
-- them covers all of it. In PL/pgSQL because a session keeps its plan from call to call.
create or replace function admin_areas_in_cell(
  west double precision,
  south double precision,
  east double precision,
  north double precision
) returns table (
  id bigint, parent_id bigint, country_code text, level integer, code text, name text, shape geometry
)
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
declare
  cell constant geometry := st_makeenvelope(west, south, east, north, 4326);
begin
  return query
  select
    area.id, area.parent_id, area.country_code, area.level, area.code::text, area.name,
    case when not bool_or(st_covers(piece.geom, cell)) then st_collectionextract(st_collect(piece.geom), 3) end
  from admin_area_piece as piece
  join admin_area as area on area.id = piece.admin_area_id
  where st_intersects(piece.geom, cell)
  group by area.id;
end
$$;

comment on function admin_areas_in_cell(double precision, double precision, double precision, double precision) is
  'The administrative areas that a cell (degrees, WGS 84) meets, with their pieces there; null where one covers it.';
