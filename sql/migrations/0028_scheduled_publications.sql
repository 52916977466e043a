-- A release that is complete is published at a time to come, by the services that run then.

create table scheduled_publication (
  release_id bigint primary key references release on delete cascade,
  publish_at timestamptz not null,
  scheduled_at timestamptz not null default now(),
  scheduled_by text not null,
  allowed text[] not null,
  strict boolean not null,
  refused_at timestamptz,
  refusal text,
  check ((refused_at is null) = (refusal is null))
);
comment on table scheduled_publication is
  'When a release that is complete is to be published. The row goes when it is, and stays where the checks refuse it then.';
comment on column scheduled_publication.scheduled_by is 'The user of the operating system who has scheduled it.';
comment on column scheduled_publication.allowed is 'The checks whose errors do not count.';
comment on column scheduled_publication.strict is 'Whether what would be noted refuses it as well.';
comment on column scheduled_publication.refusal is 'Why it was not published at its time, in sentences; nobody tries again.';
