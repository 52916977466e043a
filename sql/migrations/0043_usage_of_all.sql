-- Statistics of all accounts read these sums, whatever the number of accounts and items.
create table usage_of_all (
  day date not null,
  product text not null,
  country_code text not null,
  crop_code text,
  slot smallint not null,
  advisories bigint not null,
  unique nulls not distinct (day, product, country_code, crop_code, slot)
) with (fillfactor = 70);
comment on table usage_of_all is
  'The sums of user_usage over all accounts. Connections add to different slots, so that they rarely wait for each other.';

lock table user_usage in exclusive mode;
insert into usage_of_all (day, product, country_code, crop_code, slot, advisories)
select day, product, country_code, crop_code, 0, sum(advisories)
from user_usage
group by day, product, country_code, crop_code;
