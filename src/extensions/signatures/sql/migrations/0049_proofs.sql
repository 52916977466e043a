-- Merkle trees of releases, and the keys that sign their roots: see docs/guide/proof.md.

create table release_proof (
  release_id bigint primary key references release on delete cascade,
  root bytea,
  header text,
  grids bytea,
  leased_until timestamptz not null default now()
);
comment on table release_proof is
  'The root of the Merkle tree of a release. It stays where the release is deleted: answers have named it.';
comment on column release_proof.root is 'Null while the work goes on. It never changes.';
comment on column release_proof.header is 'The text of which the root has the hash: release, grids and layers.';
comment on column release_proof.grids is 'The roots of its grids, 32 bytes each.';
comment on column release_proof.leased_until is 'Until then one process computes it.';

create table proof_node (
  coverage_id bigint references coverage on delete cascade,
  level integer,
  chunk integer,
  hashes bytea not null,
  primary key (coverage_id, level, chunk)
);
comment on table proof_node is
  'Hashes of the Merkle tree of a grid. Level 0 has those of 512 tiles in a row of the table, without rows for tiles that are all empty; level 1 has one row, with the roots of all chunks of level 0.';

create table signing_key (
  kid text primary key,
  public_key bytea not null,
  made_at timestamptz not null default now(),
  retired_at timestamptz
);
comment on table signing_key is
  'The public parts of the keys that sign roots. The private part is in a file of the operator, and in no backup of the database.';
