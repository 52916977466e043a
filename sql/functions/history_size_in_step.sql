create or replace function history_size_in_step() returns trigger
language plpgsql
as $$
begin
  update history_size as size
  set items = size.items - gone.items, bytes = size.bytes - gone.bytes
  from (select user_id, count(*) as items, sum(bytes) as bytes from removed group by user_id) as gone
  where size.user_id = gone.user_id;
  -- Found one by one: all feedback there is would be read for a few hundred items otherwise. The offset keeps it so: these
  -- plans are kept from a first removal, often of one item, and a join would look through all feedback of its user then.
  delete from advisory_feedback as feedback
  where history_id = any (array(select id from removed))
    and exists (
      select from removed where removed.id = feedback.history_id and removed.user_id = feedback.user_id offset 0
    );
  delete from history_share as share
  where history_id = any (array(select id from removed))
    and exists (
      select from removed where removed.id = share.history_id and removed.user_id = share.user_id offset 0
    );
  return null;
end
$$;

comment on function history_size_in_step() is
  'Counts in history_size what is deleted from histories, and has feedback and shares go with their items. Who adds an item counts it: see keep_history_items.';

create or replace trigger size_in_step_with_removed after delete on history_item
  referencing old table as removed for each statement execute function history_size_in_step();
