-- Until when a release is of use: what is older than its season says so.

alter table release add column valid_until date;
comment on column release.valid_until is
  'The last day (UTC) on which it is of its season, where its manifest says so; otherwise that follows from its month.';
