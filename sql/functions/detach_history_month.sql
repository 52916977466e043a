-- With its owner's rights: the role of the service may change no table. Who reads or keeps items waits for this one as
-- long as this one waits for a lock, so that is short.
create or replace function detach_history_month(until timestamptz) returns text
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '200ms'
as $$
declare
  -- What is young stays, whatever a clock says.
  bound constant uuid = uuid_at(least(until, now() - interval '28 days'));
  first record;
  second record;
  is_empty boolean;
begin
  -- That of create_history_months: partitions are changed by one at a time.
  perform pg_advisory_xact_lock(7239446);
  if exists (select from pg_inherits where inhparent = 'history_item_going'::regclass) then
    raise object_in_use using message = 'another month of histories is still to be dropped';
  end if;
  select * into first from history_months() order by ends limit 1;
  select * into second from history_months() order by ends offset 1 limit 1;
  -- A vacuum of a large month takes longer than anybody is to wait here.
  if first.ends <= bound then
    perform keep_vacuum_away(first.partition::regclass);
  end if;
  if second.ends <= bound then
    perform keep_vacuum_away(second.partition::regclass);
    -- What is being kept in it is waited for, and is not dropped.
    execute format('lock table %I in access exclusive mode', first.partition);
  end if;
  execute format('select not exists (select from %I)', first.partition) into is_empty;
  if is_empty and second.ends <= bound then
    execute format('drop table %I', first.partition);
    first = second;
  elsif is_empty or first.ends > bound then
    return null;
  end if;
  execute format('alter table history_item detach partition %I', first.partition);
  execute format('alter table %I rename to history_item_going_month', first.partition);
  alter table history_item_going_month inherit history_item_going;
  -- An import may have brought how far another month was counted away.
  update history_removal
  set user_id = '00000000-0000-0000-0000-000000000000', id = '00000000-0000-0000-0000-000000000000';
  -- There is always one for what is older than all others: items may be imported, or kept by a clock that is slow.
  execute format(
    'create table %I partition of history_item for values from (minvalue) to (%L)',
    to_char(uuid_time(first.ends) at time zone 'UTC', '"history_item_before_"YYYY_MM'),
    first.ends
  );
  return first.partition;
end
$$;

comment on function detach_history_month(timestamptz) is
  'Takes the oldest items out of all histories, where their month has ended by a moment, and puts them into history_item_going. Returns the name that their table had; null where there are none.';

revoke execute on function detach_history_month(timestamptz) from public;
