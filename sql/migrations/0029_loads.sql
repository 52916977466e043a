-- Whether a load is running is told by a lock that it holds.

alter table release add column load_lock bigint;
comment on column release.load_lock is
  'The advisory lock that its load holds for as long as it runs; none where an older version has loaded it.';
