-- The countries whose areas, of any level, contain a point or have it on their border. In PL/pgSQL
-- because a session keeps its plan from call to call, and one query asks for hundreds of points.
create or replace function countries_at(longitude double precision, latitude double precision)
returns text[]
language plpgsql stable strict parallel safe
as $$
#variable_conflict use_column
begin
  return array(
    select distinct country_code
    from admin_areas_at(countries_at.longitude, countries_at.latitude)
    order by country_code
  );
end
$$;

comment on function countries_at(double precision, double precision) is
  'The codes of the countries that a longitude and latitude (WGS 84) lie in, borders included, in order.';
