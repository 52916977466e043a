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
    -- Found one by one: all feedback there is would be read for a few hundred items otherwise.
    delete from advisory_feedback
    where history_id = any (array(select id from removed))
      and (history_id, user_id) in (select id, user_id from removed);
    delete from history_share
    where history_id = any (array(select id from removed))
      and (history_id, user_id) in (select id, user_id from removed);
  end if;
  return null;
end
$$;

comment on function history_size_in_step() is
  'Counts in history_size what is added to histories and deleted from them, whoever does so, and has feedback and shares go with their items.';

create or replace trigger size_in_step_with_added after insert on advisory_history_json
  referencing new table as added for each statement execute function history_size_in_step();

create or replace trigger size_in_step_with_removed after delete on advisory_history_json
  referencing old table as removed for each statement execute function history_size_in_step();

-- Who adds an item here counts it: see keep_history_items.
create or replace trigger size_in_step_with_removed after delete on history_item
  referencing old table as removed for each statement execute function history_size_in_step();
