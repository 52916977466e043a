-- A function for the reasons of newest_history_items.
create or replace function oldest_history_items(account uuid, most integer)
returns table (id uuid, bytes integer)
language plpgsql stable rows 500 set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query select id, bytes from history_item where user_id = account order by id limit most;
end
$$;

comment on function oldest_history_items is 'The oldest items of an account, so many at most.';
