create or replace function history_item_id(id uuid) returns uuid
language sql stable strict parallel safe
as $$
  select coalesce((select item_id from history_former_id as former where former.id = $1), $1)
$$;

comment on function history_item_id(uuid) is 'The id of an item, where version 1.0.0 may have given it another one.';
