-- A function for the reasons of newest_history_items. Of a month that is small all items would be read, too.
create or replace function delete_history_items(account uuid, after uuid, most integer) returns uuid
language plpgsql set enable_sort = off set enable_seqscan = off
as $$
declare
  ids uuid[];
begin
  select array_agg(id) into ids
  from (
    select id from history_item where user_id = account and id > after order by id limit most
  ) as piece;
  delete from history_item where user_id = account and id between ids[1] and ids[cardinality(ids)];
  return ids[cardinality(ids)];
end
$$;

comment on function delete_history_items is
  'Deletes the oldest items of an account with ids after one, so many at most. Returns the id of the last of them; null where there are none.';
