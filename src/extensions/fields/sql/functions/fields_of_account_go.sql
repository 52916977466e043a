create or replace function fields_of_account_go() returns trigger
language plpgsql
as $$
begin
  update field_collection set state = 'gone', changed_at = '-infinity' where user_id = old.id;
  return null;
end
$$;

comment on function fields_of_account_go() is
  'Has the service remove the fields of an account that is deleted, whoever does so.';

create or replace trigger fields_go after delete on app_user
  for each row execute function fields_of_account_go();
