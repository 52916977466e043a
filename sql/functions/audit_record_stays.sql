-- What was recorded is neither changed nor removed: by no mistake in the service, and by nobody who got as far as
-- to run statements with its rights but not to alter its tables.
create or replace function audit_record_stays() returns trigger
language plpgsql
as $$
begin
  if tg_op = 'DELETE' and current_setting('agro.audit_retention', true) = 'on'
    and old.at < now() - interval '28 days' then
    return old;
  end if;
  raise exception 'audit records are neither changed nor removed' using errcode = 'insufficient_privilege';
end
$$;

comment on function audit_record_stays() is
  'Refuses every change of an audit record but the removal of old ones by delete_old_audit_records.';

create or replace trigger stays before update or delete on audit_record
  for each row execute function audit_record_stays();
create or replace trigger stays_whole before truncate on audit_record
  for each statement execute function audit_record_stays();
