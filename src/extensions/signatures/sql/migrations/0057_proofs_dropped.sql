-- Proofs of Merkle trees are no more: signatures of statements stand in their place, which migration 56 made room for.
-- Version 1.2.0 writes hashes with each load, and reads them for each proof.
-- breaks: older versions

drop table proof_node;
drop table release_proof;

comment on table signing_key is
  'The public parts of the keys that sign statements of releases. The private part is in a file of the operator, and in no backup of the database.';
