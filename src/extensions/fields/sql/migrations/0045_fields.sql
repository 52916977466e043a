-- Collections of fields that accounts keep. Collections of deleted accounts are removed later, in pieces.

create table field_collection (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  name text not null,
  state text not null default 'draft' check (state in ('draft', 'kept', 'gone')),
  fields integer not null default 0,
  bytes bigint not null default 0,
  changed_at timestamptz not null default now()
);
create unique index on field_collection (user_id, name) where state = 'kept';
create index on field_collection (changed_at) where state <> 'kept';
comment on table field_collection is 'Collections of fields by account and name.';
comment on column field_collection.state is
  'draft: fields are still arriving, and are not seen. kept: its fields never change. gone: deleted or replaced; answers that have begun may still read it.';
comment on column field_collection.bytes is 'The length of its ids, shapes and properties.';

create table field (
  collection_id bigint not null,
  id text collate "C" not null,
  place bigint not null,
  name text,
  properties text,
  longitude double precision not null,
  latitude double precision not null,
  area_ha double precision not null,
  shape bytea not null,
  primary key (collection_id, id)
);
create index on field (collection_id, place, id);
comment on table field is
  'Fields of collections. There is no foreign key, which would be looked up for each row: a collection goes after its fields.';
comment on column field.id is 'The id of the account: a parcel number, or any other text.';
comment on column field.place is 'The order of answers: neighbours share tiles. Bits of longitude and latitude by turns.';
comment on column field.properties is 'JSON.';
comment on column field.longitude is 'With the latitude, a position inside.';
comment on column field.shape is 'Well-known binary of a MultiPolygon in WGS 84, valid.';

create table field_weights (
  collection_id bigint not null,
  page integer not null,
  grid text not null,
  ids bytea not null,
  weights bytea not null,
  primary key (collection_id, page, grid)
);
comment on table field_weights is
  'Which pixels of a grid the fields of a page of a collection cover: weighed once, for all releases on the grid.';
comment on column field_weights.grid is 'The key of the grid, with the version of the format.';
comment on column field_weights.ids is 'SHA-256 of the ids of the page: of other fields the weights say nothing.';
comment on column field_weights.weights is
  'The lengths of the weights of each field as little-endian integers of four bytes, then the weights.';
