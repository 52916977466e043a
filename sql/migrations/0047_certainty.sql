-- How sure the values of a release are, and the condition of a field that they are for. Versions of before read the
-- values alone: rasters about other layers have a table of their own. They cannot tell conditions apart, so that releases
-- with conditions wait for their end (docs/manifest.md).

alter table release add column conditions jsonb;
comment on column release.conditions is
  'The question for the condition of a field, the conditions in their order with titles, and the codes of the landscape raster; null without conditions.';

alter table layer
  add column condition text,
  add column probability double precision check (probability between 0 and 1),
  add column range_from double precision,
  add column range_to double precision,
  add check (range_from > 0 and range_from < range_to and range_to < 1),
  drop constraint layer_release_id_input_scenario_key,
  add constraint layer_labels_key unique nulls not distinct (release_id, input, scenario, condition);
comment on column layer.condition is 'The condition of a field that the values are for; null for all.';
comment on column layer.probability is 'Of its scenario, for the whole release; null where a raster has it, or none.';
comment on column layer.range_from is 'With range_to the quantiles that its range lies between; null without a range.';

create table companion (
  release_id bigint not null references release on delete cascade,
  ordinal integer not null check (ordinal > 0),
  role text not null check (role in ('probability', 'low', 'high', 'stddev', 'landscape')),
  input text,
  scenario text,
  condition text,
  coverage_id bigint not null references coverage on delete cascade,
  band integer not null check (band > 0),
  unit text not null,
  scale double precision not null,
  "offset" double precision not null,
  decimals integer not null check (decimals between 0 and 10),
  pixel_type text not null,
  valid_count bigint not null,
  minimum double precision,
  maximum double precision,
  mean double precision,
  primary key (release_id, ordinal),
  unique (coverage_id, band),
  unique nulls not distinct (release_id, role, input, scenario, condition)
);
create index on companion (coverage_id);
comment on table companion is
  'A band about layers: the odds of a scenario, an end of the range of the layer with its labels, its standard deviation, or the condition of each place.';
comment on column companion.ordinal is 'Counted on from the layers of the release.';
