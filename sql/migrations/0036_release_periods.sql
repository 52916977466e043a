-- A release is answered from by its code as long as it is there, also where another has taken its place: when each was
-- published, and when it was deleted, is known from now on, and of the past as far as it was recorded.

alter table release add column deleted_at timestamptz;
comment on column release.deleted_at is 'When its data were deleted; null where they are there, or that was not recorded.';

create table release_period (
  id bigint generated always as identity primary key,
  release_id bigint not null references release on delete cascade,
  published_from timestamptz not null,
  published_to timestamptz check (published_to >= published_from)
);
create index on release_period (release_id, published_from);
create unique index on release_period (release_id) where published_to is null;
comment on table release_period is
  'When releases were published. The function release_periods_in_step writes it; a release without a row never was.';
comment on column release_period.published_to is 'When it was replaced, withdrawn or deleted; null while it is published.';

-- Nobody publishes between what is read here and the trigger that writes from then on.
lock table publication in share row exclusive mode;

insert into release_period (release_id, published_from, published_to)
select distinct on (release.id, ended.at) release.id, began.at, ended.at
from (
  select detail ->> 'release' as code, at from audit_record where kind = 'release_published'
) as began
join release using (code)
cross join lateral (
  select min(record.at) as at
  from audit_record as record
  where record.at > began.at
    and (
      (record.kind = 'release_published' and record.detail ->> 'replaced' = began.code)
      or (
        record.kind in ('release_published', 'release_withdrawn', 'release_deleted')
        and record.detail ->> 'release' = began.code
      )
    )
) as ended
where ended.at is not null or exists (select from publication where release_id = release.id)
order by release.id, ended.at, began.at;

insert into release_period (release_id, published_from)
select release_id, published_at
from publication
where not exists (
  select from release_period where release_id = publication.release_id and published_to is null
);

-- Of what they took the place of, it is known that it was published after it was loaded.
insert into release_period (release_id, published_from, published_to)
select release.id, min(release.created_at), greatest(max(publication.published_at), min(release.created_at))
from publication
join release on release.id = publication.previous_release_id
where not exists (select from release_period where release_id = release.id)
group by release.id;

update release
set deleted_at = (
  select max(at) from audit_record where kind = 'release_deleted' and detail ->> 'release' = release.code
)
where status = 'deleted';
