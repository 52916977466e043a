-- Which countries and crops there are, what they are called and who offers what, as a short text that is
-- another one after each change. They are few, so that reading them all takes less than keeping count.
create or replace function reference_version()
returns text
language sql stable parallel safe
as $$
  select md5(concat_ws(
    '; ',
    (select string_agg(country::text, ', ' order by code) from country),
    (select string_agg(country_alias::text, ', ' order by alias) from country_alias),
    (select string_agg(crop::text, ', ' order by code) from crop),
    (select string_agg(crop_alias::text, ', ' order by alias) from crop_alias),
    (select string_agg(country_crop::text, ', ' order by country_code, crop_code) from country_crop)
  ))
$$;

comment on function reference_version() is
  'Changes with the countries, the crops, their names and the offers: what was read of them is valid as long as it is the same.';
