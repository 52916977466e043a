-- Which boundaries are loaded, as a text that is another one after each load.
create or replace function boundaries_version()
returns text
language sql stable parallel safe
as $$
  select coalesce(
    string_agg(concat_ws(' ', country_code, level, loaded_at), ', ' order by country_code, level),
    ''
  )
  from boundary_set
$$;

comment on function boundaries_version() is
  'Changes with each load of boundaries: what was computed from them is valid as long as it is the same.';
