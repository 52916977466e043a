-- A new process reads the tiles that are asked for most before its first request. Which they are is told by the
-- processes that have them in memory.

create table tile_use (
  product text not null,
  country_code text not null,
  crop_code text,
  longitude double precision not null,
  latitude double precision not null,
  uses double precision not null check (uses >= 0),
  used_at timestamptz not null default now(),
  unique nulls not distinct (product, country_code, crop_code, longitude, latitude)
) with (fillfactor = 70);
comment on table tile_use is
  'Where tiles lie that are asked for most, of releases of any month. Only a hint: nothing is wrong where rows are missing, or name what is no more.';
comment on column tile_use.longitude is 'The centre of a tile: another release has its tile of the same place there, whatever its grid.';
comment on column tile_use.uses is 'How often it had been asked for at `used_at`: what was a week before counts half.';
