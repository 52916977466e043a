create or replace function history_size_in_step() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'INSERT' then
    -- In one order everywhere, so that two processes never wait for each other.
    insert into history_size as size (user_id, items, bytes)
    select user_id, count(*), sum(bytes) from added group by user_id order by user_id
    on conflict (user_id)
      do update set items = size.items + excluded.items, bytes = size.bytes + excluded.bytes;
  else
    update history_size as size
    set items = size.items - gone.items, bytes = size.bytes - gone.bytes
    from (select user_id, count(*) as items, sum(bytes) as bytes from removed group by user_id) as gone
    where size.user_id = gone.user_id;
  end if;
  return null;
end
$$;

comment on function history_size_in_step() is
  'Counts what is added to advisory_history and deleted from it in history_size, whoever does so.';

create or replace trigger size_in_step_with_added after insert on advisory_history
  referencing new table as added for each statement execute function history_size_in_step();

create or replace trigger size_in_step_with_removed after delete on advisory_history
  referencing old table as removed for each statement execute function history_size_in_step();
