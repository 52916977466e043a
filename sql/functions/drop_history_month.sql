-- With its owner's rights: the role of the service may change no table.
create or replace function drop_history_month() returns void
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms'
as $$
declare
  partition regclass;
begin
  if exists (
    select from history_item_going as item, history_removal as removal
    where (item.user_id, item.id) > (removal.user_id, removal.id)
  ) then
    raise object_in_use using message = 'not all items of the month are counted away';
  end if;
  for partition in select inhrelid::regclass from pg_inherits where inhparent = 'history_item_going'::regclass loop
    perform keep_vacuum_away(partition);
    execute format('drop table %s', partition);
  end loop;
  truncate history_item_going;
  update history_removal
  set user_id = '00000000-0000-0000-0000-000000000000', id = '00000000-0000-0000-0000-000000000000';
end
$$;

comment on function drop_history_month() is
  'Drops what is in history_item_going, after all of it is counted away.';

revoke execute on function drop_history_month() from public;
