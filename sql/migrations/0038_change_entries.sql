-- What has changed of what the service answers with, for those who ask what is new.

create table change_entry (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  kind text not null
    check (kind in ('published', 'rolled_back', 'withdrawn', 'deleted', 'boundaries_loaded')),
  release text,
  replaced text,
  product text,
  country_code text not null,
  crop_code text,
  forecast_period date,
  synthetic boolean,
  level integer,
  check ((release is null) = (kind = 'boundaries_loaded')),
  check ((product is null) = (release is null)),
  check ((synthetic is null) = (release is null)),
  check ((level is null) = (release is not null))
);
create index on change_entry (release) where release is not null;
comment on table change_entry is
  'Releases that were published, withdrawn and deleted, and boundaries that were loaded, in the order in which that was committed. Rows are added and stay.';
comment on column change_entry.id is
  'Whoever has seen a row has been able to see all with smaller ids: see change_noted.';
comment on column change_entry.release is 'The code of the release that it is about.';
comment on column change_entry.replaced is 'The code of the release that answered before.';

-- The records of operators are what is known of the past; of what is older than they are kept, what answers now.
insert into change_entry (
  at, kind, release, replaced, product, country_code, crop_code, forecast_period, synthetic, level
)
select
  at, kind, past.release, replaced, product, coalesce(release.country_code, past.country_code), crop_code,
  forecast_period, synthetic, level
from (
  select
    at,
    id as ordinal,
    case
      when kind = 'release_published' and (detail ->> 'rollback')::boolean then 'rolled_back'
      when kind = 'release_published' then 'published'
      when kind = 'release_withdrawn' then 'withdrawn'
      when kind = 'release_deleted' then 'deleted'
      else 'boundaries_loaded'
    end as kind,
    detail ->> 'release' as release,
    detail ->> 'replaced' as replaced,
    detail ->> 'country' as country_code,
    (detail ->> 'level')::integer as level
  from audit_record
  where kind in ('release_published', 'release_withdrawn', 'boundaries_loaded')
    or kind = 'release_deleted' and (
      (detail ->> 'published')::boolean or exists (
        select from audit_record as earlier
        where earlier.kind = 'release_published'
          and earlier.detail ->> 'release' = audit_record.detail ->> 'release'
      )
    )
  union all
  select published_at, 0, 'published', release.code, previous.code, null, null
  from publication
  join release on release.id = release_id
  left join release as previous on previous.id = previous_release_id
  where not exists (
    select from audit_record
    where kind = 'release_published' and detail ->> 'release' = release.code
  )
  union all
  select loaded_at, 0, 'boundaries_loaded', null, null, country_code, level
  from boundary_set
  where not exists (
    select from audit_record
    where kind = 'boundaries_loaded'
      and detail ->> 'country' = boundary_set.country_code
      and (detail ->> 'level')::integer = boundary_set.level
  )
) as past
left join release on release.code = past.release
where past.release is null or release.id is not null
order by at, ordinal;
