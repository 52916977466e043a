-- Processes compute the results of areas before the first request for them, each other areas.

create table area_claim (
  release_id bigint not null,
  admin_area_id bigint not null,
  leased_until timestamptz not null,
  primary key (release_id, admin_area_id)
);
comment on table area_claim is
  'The areas whose results processes are computing, and those that failed a short time ago. Without references, which would wait for a load of boundaries.';
comment on column area_claim.leased_until is 'From then on any process may compute it.';
