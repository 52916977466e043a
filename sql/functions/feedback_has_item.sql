-- A connection may keep the plan, also one that it made in a month of a few items: it must neither scan a month nor take
-- the index of subjects, which has all items of the user. The order is one that the primary key alone has without a sort;
-- with `id = ...` there would be none to keep.
create or replace function feedback_has_item() returns trigger
language plpgsql set enable_sort = off set enable_seqscan = off
as $$
begin
  -- Held, so that it is not deleted meanwhile.
  perform from history_item
  where user_id = new.user_id and id between new.history_id and new.history_id
  order by id
  for key share;
  if not found then
    raise foreign_key_violation using message = 'there is no such item to give feedback to';
  end if;
  return new;
end
$$;

comment on function feedback_has_item() is
  'Refuses feedback to what is no item of its user: a foreign key would keep months from being detached.';

create or replace trigger has_item before insert on advisory_feedback
  for each row execute function feedback_has_item();
