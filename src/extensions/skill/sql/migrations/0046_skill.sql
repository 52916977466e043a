-- How well releases have predicted what was observed, so that answers can tell it.

create table skill (
  release_id bigint not null references release on delete cascade,
  level integer not null,
  area_code text not null,
  n integer not null check (n > 0),
  observers integer not null,
  sum_difference double precision not null,
  sum_absolute double precision not null,
  n_range integer not null,
  n_within integer not null,
  n_odds integer not null,
  sum_brier double precision not null,
  sum_rps double precision not null,
  sum_rps_climatology double precision not null,
  kept_at timestamptz not null default now(),
  primary key (release_id, level, area_code)
);
comment on table skill is
  'Sums over the observations of a release, by area, as `agro scorecard --keep` has found them. Areas of few accounts have no row.';
comment on column skill.level is '0: the whole country, under its code in capitals.';
comment on column skill.n is 'How many observations.';
comment on column skill.observers is 'Of how many accounts; each row of a file counts as one.';
comment on column skill.sum_difference is 'Of predicted minus observed.';
comment on column skill.sum_absolute is 'Of the sizes of these differences.';
comment on column skill.n_range is 'How many predictions had a range; 0 where they may not be told.';
comment on column skill.n_within is 'How many observations lay in it.';
comment on column skill.n_odds is 'How many predictions had odds; 0 where they may not be told.';
comment on column skill.sum_rps is 'Of the ranked probability scores of these odds.';
comment on column skill.sum_rps_climatology is 'The same of a third each.';
