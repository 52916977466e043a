-- Statements of releases, which are signed: see docs/guide/signatures.md.

create table release_statement (
  release_id bigint primary key references release on delete cascade,
  statement text not null
);
comment on table release_statement is
  'All that a release was loaded as, with the SHA-256 of its files. It stays where the release is deleted; one of before this table has none.';
comment on column release_statement.statement is 'JSON in the canonical form of RFC 8785: signatures are of these bytes.';
