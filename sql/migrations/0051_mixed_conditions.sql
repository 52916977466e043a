-- An answer has one entry for each input and scenario. Where a release has conditions of a field, a layer without a
-- condition has of each pixel the value of its condition, by the landscape raster or the default of the release; the
-- band `share` of a condition has 1 where that condition was taken and 0 elsewhere, so that its mean is the share of an
-- area. Releases of before answer by their landscape raster at points, and by one condition in areas, until their rasters
-- are loaded again.

alter table companion
  drop constraint companion_role_check,
  add constraint companion_role_check
    check (role in ('probability', 'low', 'high', 'stddev', 'landscape', 'share'));

comment on column release.conditions is
  'The question for the condition of a field, the conditions in their order with titles, the codes of the landscape raster, and the default; null without conditions.';
comment on column layer.condition is
  'The condition of a field that the values are for; null for all, and for the mixture of those of a release.';
comment on table companion is
  'A band about layers: the odds of a scenario, an end of the range of the layer with its labels, its standard deviation, the condition of each place, or where a condition was taken for the mixture.';
