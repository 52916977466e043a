-- What fertilizers consist of, so that answers can tell the nutrients in them.

create table input_composition (
  name text primary key check (name = btrim(name) and name <> ''),
  n double precision not null check (n between 0 and 100),
  p2o5 double precision not null check (p2o5 between 0 and 100),
  k2o double precision not null check (k2o between 0 and 100),
  s double precision not null check (s between 0 and 100),
  check (n + p2o5 + k2o + s <= 100)
);
create unique index on input_composition (lower(name));
comment on table input_composition is
  'What an input consists of, in percent of its weight: nitrogen, phosphate, potash and sulphur, as bags name them. Layers are found by their input, in any case.';
insert into input_composition (name, n, p2o5, k2o, s) values
  ('Urea', 46, 0, 0, 0),
  ('DAP', 18, 46, 0, 0),
  ('NPS', 19, 38, 0, 7);
