-- The release that answers a request: of the month asked for, or else the newest. Values that
-- agronomists published come before synthetic ones of any month. A crop may be named by an alias. In
-- PL/pgSQL to keep its plan.
create or replace function published_release(
  product text,
  country_code text,
  crop_code text,
  forecast_period date
) returns bigint
language plpgsql stable parallel safe
as $$
#variable_conflict use_column
begin
  return (
    select release.id
    from publication
    join release on release.id = publication.release_id
    where publication.product = published_release.product
      and publication.country_code = published_release.country_code
      and publication.crop_code is not distinct from crop_named(published_release.crop_code)
      and (
        published_release.forecast_period is null
        or publication.forecast_period = published_release.forecast_period
      )
    order by release.synthetic, publication.forecast_period desc
    limit 1
  );
end
$$;

comment on function published_release(text, text, text, date) is
  'The id of the release that answers for a product, country, crop and month (null: the newest).';
