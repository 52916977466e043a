-- The countries that countries_at gives for every point of a cell, borders included; null where it does not
-- give the same for all of them, or may not. In PL/pgSQL because a session keeps its plan.
--
-- A country counts as covering the cell where a single piece of it does. Where several do together the
-- answer is null as well: to unite them takes longer than to ask for points one by one, and could round.
create or replace function countries_throughout(
  west double precision,
  south double precision,
  east double precision,
  north double precision
) returns text[]
language plpgsql stable strict parallel safe
as $$
#variable_conflict use_column
declare
  cell constant geometry := st_makeenvelope(west, south, east, north, 4326);
begin
  return (
    select case when coalesce(bool_and(covers), true)
      then coalesce(array_agg(country_code order by country_code), '{}')
    end
    from (
      select area.country_code, bool_or(st_covers(piece.geom, cell)) as covers
      from admin_area_piece as piece
      join admin_area as area on area.id = piece.admin_area_id
      where st_intersects(piece.geom, cell)
      group by area.country_code
    ) as country
  );
end
$$;

comment on function countries_throughout(double precision, double precision, double precision, double precision) is
  'The countries that all points of a cell (degrees, WGS 84) lie in, in order; null where that may differ.';
