-- What is told of skill grows by batches of accounts, with noise, so that no two states of it tell the harvest of a farmer.

-- Sums of before are exact, and it is not known what they have: they have to be kept again.
delete from skill;
comment on column skill.observers is
  'Of how many accounts, added up over the times at which they were kept; each row of a file counts as one.';
comment on table skill is
  'Sums over the observations of a release, by area, as `agro scorecard --keep` has added them up, each time with noise. Areas of few accounts have no row.';

create table skill_counted (
  release_id bigint not null references release on delete cascade,
  key bytea not null,
  level integer not null,
  primary key (release_id, key, level)
);
comment on table skill_counted is
  'Which observations are in the sums of `skill` of a level: each counts once there, whatever becomes of it.';
comment on column skill_counted.key is 'A hash of the id of an answer, of sender and place, or of the row of a file.';
comment on column skill_counted.level is '0 for the sums of the country, 1 for those of its areas.';
