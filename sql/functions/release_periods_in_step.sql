create or replace function release_periods_in_step() returns trigger
language plpgsql
as $$
begin
  if tg_op <> 'INSERT' then
    update release_period set published_to = greatest(now(), published_from)
    where release_id = old.release_id and published_to is null;
  end if;
  if tg_op <> 'DELETE' then
    insert into release_period (release_id, published_from) values (new.release_id, new.published_at)
    on conflict do nothing;
  end if;
  return null;
end
$$;

comment on function release_periods_in_step() is
  'Notes in release_period when releases are published and no more, whoever does so.';

create or replace trigger periods_in_step_with_added after insert or delete on publication
  for each row execute function release_periods_in_step();

create or replace trigger periods_in_step_with_replaced after update of release_id on publication
  for each row when (old.release_id is distinct from new.release_id)
  execute function release_periods_in_step();
