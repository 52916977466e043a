-- Whether a load is running is told by a lock that it holds.

alter table release add column load_lock bigint;
comment on column release.load_lock is
  'The advisory lock that its load holds for as long as it runs; none where an older version has loaded it.';

-- Tiles of several layers are compressed: by LZ4, which takes a fifth of the time of PostgreSQL's own method, where the
-- server has it. What is stored stays as it is, and is read as before.
do $$
begin
  alter table raster_tile alter column rast set compression lz4;
exception
  when feature_not_supported then null;
end
$$;
