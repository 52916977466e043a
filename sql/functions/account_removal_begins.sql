create or replace function account_removal_begins() returns trigger
language plpgsql
as $$
begin
  update session set ended_at = now()
  where user_id = old.id and ended_at is null;
  delete from history_size where user_id = old.id;
  insert into account_removal (user_id) values (old.id) on conflict do nothing;
  return null;
end
$$;

comment on function account_removal_begins() is
  'Ends the sessions of an account that is deleted, whoever does so, and has the service remove the rest of its rows.';

create or replace trigger removal_begins after delete on app_user
  for each row execute function account_removal_begins();
