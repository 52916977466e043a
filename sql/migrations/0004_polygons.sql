-- What advice for polygons needs at hand: statistics of the tiles that lie inside as a whole, and the
-- results of administrative areas.

alter table coverage add column summarised boolean not null default false;
comment on column coverage.summarised is
  'Whether its rows of tile_summary are complete. Without them the tiles themselves are read.';

create table tile_summary (
  coverage_id bigint not null references coverage on delete cascade,
  level integer not null check (level >= 0),
  block_row integer not null,
  block_column integer not null,
  bands bytea not null,
  primary key (coverage_id, level, block_row, block_column)
);
comment on table tile_summary is
  'Statistics of blocks of pixels. On level 0 the blocks are the tiles, on each further one they are four times as wide and high, up to one for the whole coverage. A block without any value is left out.';
comment on column tile_summary.bands is
  'Of each band five little-endian doubles: the area of the valid pixels (square metres on the ellipsoid, or square units of a projected CRS), and of the pixels, before scale and offset and each weighed by its area, the mean, the sum of squared differences from it, the smallest and the largest.';

create table area_result (
  release_id bigint not null references release on delete cascade,
  admin_area_id bigint not null references admin_area on delete cascade,
  boundaries_loaded_at timestamptz not null,
  statistics jsonb not null,
  primary key (release_id, admin_area_id)
);
create index on area_result (admin_area_id);
comment on table area_result is
  'What a release comes to in an administrative area, kept when it was first asked for.';
comment on column area_result.boundaries_loaded_at is
  'Of the boundaries it was computed with, as in boundary_set: with others it is not valid.';
