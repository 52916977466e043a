create or replace function history_size_in_step() returns trigger
language plpgsql
as $$
begin
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
  return null;
end
$$;

comment on function history_size_in_step() is
  'Counts in history_size what is deleted from histories, and has feedback and shares go with their items. Who adds an item counts it: see keep_history_items.';

create or replace trigger size_in_step_with_removed after delete on history_item
  referencing old table as removed for each statement execute function history_size_in_step();
