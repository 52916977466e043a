-- The code of the crop that a request names, by its code or an alias in lower case; what is none stays as
-- it is.
create or replace function crop_named(name text)
returns text
language sql stable parallel safe
as $$
  select coalesce((select crop_code from crop_alias where alias = crop_named.name), crop_named.name)
$$;

comment on function crop_named(text) is
  'The code of the crop with an alias (in lower case); what is no alias is given back as it is.';
