-- Boundaries that operators load: their sets, what answers need at hand, and a fast way from a point to
-- the areas that contain it.

alter table country
  add column west double precision,
  add column south double precision,
  add column east double precision,
  add column north double precision;
update country
set west = bounds.west, south = bounds.south, east = bounds.east, north = bounds.north
from (
  values
    ('eth', 32.9, 3.3, 48.1, 15.0),
    ('rwa', 28.8, -2.9, 30.95, -1.0),
    ('ken', 33.8, -4.8, 42.0, 5.6),
    ('gha', -3.4, 4.5, 1.3, 11.3)
) as bounds (code, west, south, east, north)
where country.code = bounds.code;
alter table country
  alter column west set not null,
  alter column south set not null,
  alter column east set not null,
  alter column north set not null;
comment on column country.west is
  'Roughly where it lies, decimal degrees: to recognise files of other places and swapped coordinates.';

create table country_alias (
  alias text primary key check (alias = lower(alias)),
  country_code text not null references country
);
comment on table country_alias is
  'What a country may be called by, in lower case and without accents: codes, and names in a few languages.';
insert into country_alias (country_code, alias)
select code, unnest(aliases)
from (
  values
    ('eth', array['eth', 'et', 'ethiopia', 'ethiopie', 'federal democratic republic of ethiopia']),
    ('rwa', array['rwa', 'rw', 'rwanda', 'ruanda', 'republic of rwanda']),
    ('ken', array['ken', 'ke', 'kenya', 'kenia', 'republic of kenya']),
    ('gha', array['gha', 'gh', 'ghana', 'republic of ghana'])
) as named (code, aliases);

create table boundary_set (
  country_code text not null references country,
  level integer not null check (level between 0 and 3),
  checksum text not null,
  approximate boolean not null,
  source text not null,
  licence text not null,
  loaded_at timestamptz not null default now(),
  primary key (country_code, level)
);
comment on table boundary_set is 'The areas of one level of a country, which are loaded and replaced together.';
comment on column boundary_set.checksum is
  'SHA-256 over the files and how they were read: tells whether a load would change anything.';
comment on column boundary_set.approximate is 'Made by this project from the seats of areas; not boundaries.';

insert into boundary_set (country_code, level, checksum, approximate, source, licence)
select country_code, level, 'before 0002', false, min(source), min(licence)
from admin_area
group by country_code, level;

-- Codes are compared in the same way on every database, whatever its collation.
alter table admin_area
  drop column source,
  drop column licence,
  alter column code type text collate "C",
  add column west double precision,
  add column south double precision,
  add column east double precision,
  add column north double precision,
  add column centroid_lng double precision,
  add column centroid_lat double precision,
  add column positions integer,
  add column simplified geometry(MultiPolygon, 4326);
update admin_area
set
  west = st_xmin(geom),
  south = st_ymin(geom),
  east = st_xmax(geom),
  north = st_ymax(geom),
  centroid_lng = st_x(st_centroid(geom)),
  centroid_lat = st_y(st_centroid(geom)),
  positions = st_npoints(geom),
  simplified = st_multi(st_simplifypreservetopology(geom, sqrt(st_area(geom)) / 200));
alter table admin_area
  alter column west set not null,
  alter column south set not null,
  alter column east set not null,
  alter column north set not null,
  alter column centroid_lng set not null,
  alter column centroid_lat set not null,
  alter column positions set not null,
  alter column simplified set not null,
  add foreign key (country_code, level) references boundary_set deferrable initially deferred;
create index on admin_area (parent_id);
comment on column admin_area.west is 'The extent, decimal degrees.';
comment on column admin_area.centroid_lng is 'The centre of mass, which may lie outside.';
comment on column admin_area.positions is 'Vertices of geom: how large it is in an answer.';
comment on column admin_area.simplified is 'The shape for maps: fewer vertices, each area for itself.';

-- The whole outlines are searched through no more.
drop index admin_area_geom_idx;

create table admin_area_piece (
  admin_area_id bigint not null references admin_area on delete cascade,
  geom geometry(Geometry, 4326) not null
);
create index on admin_area_piece using gist (geom);
create index on admin_area_piece (admin_area_id);
comment on table admin_area_piece is
  'The areas cut into pieces of few vertices: whether a small one contains a point is decided quickly.';
insert into admin_area_piece (admin_area_id, geom)
select id, st_subdivide(geom, 64) from admin_area where st_isvalid(geom);
