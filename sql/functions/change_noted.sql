-- Notes what changes what the service answers with, in the transaction that does it, whichever way and by whichever version
-- it is done: each of them records what operators do as its last statement.
--
-- One after the other: whoever has noted something is alone until its transaction ends, so that ids are committed in their
-- order, and nobody who asks for what came after an id misses what a slower one notes. With its owner's rights, so that
-- the role of the service needs none.
create or replace function change_noted() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  named text := new.detail ->> 'release';
begin
  -- Any constant will do that nothing else locks.
  perform pg_advisory_xact_lock(7239460);
  if new.kind = 'boundaries_loaded' then
    insert into change_entry (kind, country_code, level)
    values ('boundaries_loaded', new.detail ->> 'country', (new.detail ->> 'level')::integer);
    return null;
  end if;
  -- What never answered anybody is deleted without a word.
  if new.kind = 'release_deleted' and not (
    (new.detail ->> 'published')::boolean or exists (select from change_entry where release = named)
  ) then
    return null;
  end if;
  insert into change_entry (
    kind, release, replaced, product, country_code, crop_code, forecast_period, synthetic
  )
  select
    case
      when new.kind = 'release_published' and (new.detail ->> 'rollback')::boolean then 'rolled_back'
      else substr(new.kind, length('release_') + 1)
    end,
    release.code, new.detail ->> 'replaced', product, country_code, crop_code, forecast_period, synthetic
  from release
  where release.code = named;
  return null;
end
$$;

comment on function change_noted() is
  'Adds to change_entry what an audit record says of releases and boundaries, in the order of commits.';

create or replace trigger change_noted after insert on audit_record
  for each row
  when (new.kind in ('release_published', 'release_withdrawn', 'release_deleted', 'boundaries_loaded'))
  execute function change_noted();
