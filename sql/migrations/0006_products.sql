-- Products are defined by the service alone (src/products). The database has no list of them: one that is
-- added needs no migration, and a process that does not know it yet is not disturbed by its releases.

alter table release
  drop constraint release_product_check,
  drop constraint release_check,
  drop constraint release_check1,
  add constraint release_product_check check (product ~ '^[a-z][a-z0-9]*$'),
  add constraint release_season_check check ((crop_code is null) = (forecast_period is null));
comment on column release.product is 'The code of a product, as the service defines it.';
comment on column release.crop_code is 'None for products without seasons.';
comment on column release.forecast_period is
  'The first day of the month the forecast is for; none for products without seasons.';

alter table advisory_history drop constraint advisory_history_product_check;
comment on column advisory_history.crop_code is 'None where no product asked for has seasons.';

-- What was observed of which product is data, too.
alter table advisory_feedback add column observed jsonb;
update advisory_feedback
set observed = jsonb_strip_nulls(
  jsonb_build_object('yield_kg_ha', yield_kg_ha, 'rate_kg_ha', rate_kg_ha, 'rate_tons_ha', rate_tons_ha)
);
comment on column advisory_feedback.observed is
  'What the caller observed: numbers by the keys that products are observed by.';
