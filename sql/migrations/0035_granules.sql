-- Tiles may be kept in files, and the database says which.

alter table release
  add column tile_store text not null default 'postgis' check (tile_store in ('postgis', 'files'));
comment on column release.tile_store is
  'Where its tiles are: in raster_tile, or in the files of its granules. The other has nothing that is read.';

create table granule (
  coverage_id bigint not null references coverage on delete cascade,
  granule_row integer not null check (granule_row >= 0),
  granule_column integer not null check (granule_column >= 0),
  name text not null check (name ~ '^[0-9a-f]{64}$'),
  header_bytes integer not null check (header_bytes > 0),
  bytes bigint not null check (bytes > 0),
  primary key (coverage_id, granule_row, granule_column)
);
create index on granule (name);
comment on table granule is
  'The files of a coverage, each with 512 x 512 of its pixels; where none of them has a value, there is no file.';
comment on column granule.name is 'The SHA-256 of its header, which has the sums of the rest: the file is NAME.tif.';
comment on column granule.header_bytes is 'How long the header is, which is read first.';
