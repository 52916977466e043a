-- The areas of all countries and levels that contain a point or have it on their border.
create or replace function admin_areas_at(longitude double precision, latitude double precision)
returns table (id bigint, parent_id bigint, country_code text, level integer, code text, name text)
language sql stable parallel safe
as $$
  select distinct
    area.id, area.parent_id, area.country_code, area.level, area.code, area.name
  from admin_area_piece as piece
  join admin_area as area on area.id = piece.admin_area_id
  where st_covers(piece.geom, st_setsrid(st_makepoint(longitude, latitude), 4326))
$$;

comment on function admin_areas_at(double precision, double precision) is
  'The administrative areas of every level that a longitude and latitude (WGS 84) lie in, borders included.';
