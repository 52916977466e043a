-- What is told of skill grows by whole groups of accounts, so that no two states of it differ by a single farmer.

-- Of sums of before it is not known what they have, nor how far they have to be rounded: they have to be kept again.
delete from skill;
alter table skill add column sum_predicted double precision not null;
comment on column skill.sum_predicted is 'Of what was predicted.';
comment on column skill.observers is
  'Of how many accounts, added up over the times at which they were kept; each row of a file counts as one.';
comment on table skill is
  'Sums over the observations of a release, by area, as `agro scorecard --keep` has added them up. Areas of few accounts have no row.';

create table skill_counted (
  release_id bigint not null references release on delete cascade,
  key bytea not null,
  primary key (release_id, key)
);
comment on table skill_counted is 'Which observations are in the sums of `skill`: each counts once, whatever becomes of it.';
comment on column skill_counted.key is 'A hash of the id of an answer, of sender and place, or of the row of a file.';
