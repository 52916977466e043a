-- What is looked at before a release is published: what was found stays with it, and operators say which values are
-- plausible.

alter table release add column findings jsonb;
comment on column release.findings is
  'What the checks have found, a list, with what was allowed; none where they have not looked at the release.';

create table plausible_range (
  product text not null,
  crop_code text references crop on delete cascade,
  minimum double precision not null,
  maximum double precision not null,
  check (minimum <= maximum),
  unique nulls not distinct (product, crop_code)
);
comment on table plausible_range is
  'Between which values of a product are plausible, in its unit, where an operator has said so: of a crop, or else of all crops. Any other product has the range of its definition.';
