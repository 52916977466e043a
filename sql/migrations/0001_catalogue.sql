-- What the service knows about: countries, crops, releases of rasters and the areas they lie in.

create extension if not exists postgis;
create extension if not exists postgis_raster;

create table country (
  code text primary key check (code ~ '^[a-z]{3}$'),
  name text not null unique
);
comment on table country is 'A country the service answers for; the code is ISO 3166-1 alpha-3 in lower case.';

create table crop (
  code text primary key check (code ~ '^[a-z][a-z0-9-]*$'),
  name text not null unique
);

create table country_crop (
  country_code text not null references country,
  crop_code text not null references crop,
  primary key (country_code, crop_code)
);
comment on table country_crop is 'The crops a country offers. Forage needs no crop and is offered everywhere.';

insert into country (code, name) values
  ('eth', 'Ethiopia'),
  ('rwa', 'Rwanda'),
  ('ken', 'Kenya'),
  ('gha', 'Ghana');
insert into crop (code, name) values ('wheat', 'Wheat'), ('potato', 'Potato');
insert into country_crop values ('eth', 'wheat'), ('rwa', 'potato');

create table release (
  id bigint generated always as identity primary key,
  code text not null unique,
  product text not null check (product in ('yield', 'fertilizer', 'isfm', 'forage')),
  country_code text not null references country,
  crop_code text references crop,
  forecast_period date check (extract(day from forecast_period) = 1),
  version integer not null check (version > 0),
  synthetic boolean not null default false,
  source text not null,
  licence text not null,
  checksum text not null,
  status text not null default 'loading' check (status in ('loading', 'ready', 'deleted')),
  created_at timestamptz not null default now(),
  check ((product = 'forage') = (crop_code is null)),
  check ((product = 'forage') = (forecast_period is null)),
  unique nulls not distinct (product, country_code, crop_code, forecast_period, synthetic, version)
);
comment on table release is
  'One dataset of a product for a country, crop and month. Its content never changes once it is ready.';
comment on column release.code is 'The public name, for example yield-eth-wheat-2026-07-v1. Never used twice.';
comment on column release.forecast_period is 'The first day of the month the forecast is for; none for forage.';
comment on column release.synthetic is 'Values made by a formula, not by agronomists. Real releases come first.';
comment on column release.checksum is 'SHA-256 over the layer definitions and the bytes of their files.';
comment on column release.status is 'loading: tiles are being written, or a load was cut off. ready: complete. deleted: only the row is left.';

create table publication (
  product text not null,
  country_code text not null,
  crop_code text,
  forecast_period date,
  release_id bigint not null unique references release,
  previous_release_id bigint references release on delete set null,
  published_at timestamptz not null default now(),
  unique nulls not distinct (product, country_code, crop_code, forecast_period)
);
comment on table publication is
  'The release that answers for a product, country, crop and month. Publishing flips one row of it.';
comment on column publication.previous_release_id is 'What a rollback returns to.';

create table coverage (
  id bigint generated always as identity primary key,
  release_id bigint not null references release on delete cascade,
  srid integer not null,
  origin_x double precision not null,
  origin_y double precision not null,
  pixel_width double precision not null check (pixel_width > 0),
  pixel_height double precision not null check (pixel_height <> 0),
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  tile_size integer not null check (tile_size > 0),
  west double precision not null,
  south double precision not null,
  east double precision not null,
  north double precision not null
);
create index on coverage (release_id);
comment on table coverage is 'One grid of a release, axis-aligned in the CRS its rasters came in.';
comment on column coverage.origin_x is 'Outer corner of the first pixel, in CRS units: the geotransform''s c.';
comment on column coverage.origin_y is 'Outer corner of the first pixel, in CRS units: the geotransform''s f.';
comment on column coverage.pixel_height is 'Negative for the usual north-up rasters.';
comment on column coverage.west is 'The extent in longitude and latitude, decimal degrees.';

create table layer (
  release_id bigint not null references release on delete cascade,
  ordinal integer not null check (ordinal > 0),
  coverage_id bigint not null references coverage on delete cascade,
  band integer not null check (band > 0),
  input text,
  scenario text,
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
  unique nulls not distinct (release_id, input, scenario)
);
comment on table layer is 'One band of a coverage: value = pixel * scale + offset, in the unit.';
comment on column layer.ordinal is 'The place of the layer in the answers, from 1.';
comment on column layer.input is 'What is applied or grown: Urea, Compost, a forage species; none for yield.';
comment on column layer.minimum is 'Smallest, largest and mean value of the valid pixels, in the unit.';

create table raster_tile (
  coverage_id bigint not null references coverage on delete cascade,
  tile_row integer not null,
  tile_column integer not null,
  rast raster not null,
  primary key (coverage_id, tile_row, tile_column)
);
comment on table raster_tile is
  'The pixels of a coverage in squares of tile_size; bands are layers. A tile without any value is left out.';

create table admin_area (
  id bigint generated always as identity primary key,
  country_code text not null references country,
  level integer not null check (level between 0 and 3),
  code text not null,
  name text not null,
  parent_id bigint references admin_area,
  geom geometry(MultiPolygon, 4326) not null,
  area_km2 double precision not null,
  source text not null,
  licence text not null,
  unique (country_code, level, code)
);
create index on admin_area using gist (geom);
comment on table admin_area is 'Administrative areas: level 0 is the country. The code (pcode) is public and stable.';
