-- Of which form stored statistics are: a version of the service uses those of its own form, and makes the
-- others anew. What a version writes that knows nothing of forms yet is of the first one.

alter table coverage add column summary_version integer not null default 1;
comment on column coverage.summary_version is
  'The form of its rows of tile_summary. Those of another form than the reader''s are left alone; the tiles themselves are read.';

alter table area_result add column statistics_version integer not null default 1;
comment on column area_result.statistics_version is
  'The form of the statistics: those of another form than the reader''s are computed anew.';
