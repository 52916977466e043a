-- Which releases a compression may have changed the values of.

alter table release add column lossy boolean not null default false;
comment on column release.lossy is
  'Whether its manifest says that it is made of rasters that were compressed with loss, as JPEG does it.';
