-- What a whole layer reaches at least, and has on average at most: values in another unit lie within the range of single
-- pixels.

alter table plausible_range
  add column largest_from double precision,
  add column mean_to double precision;
comment on column plausible_range.largest_from is
  'What the largest value of a layer reaches at least, unless all are 0; null for that of the product.';
comment on column plausible_range.mean_to is
  'What the mean of the values above 0 of a layer is at most; null for that of the product.';

-- The crops of the reference file, unless an operator has set their ranges. Its comments have the sources.
update plausible_range set largest_from = 1000, mean_to = 10000
where product = 'yield' and crop_code = 'wheat' and minimum = 0 and maximum = 18000;
update plausible_range set largest_from = 3000, mean_to = 30000
where product = 'yield' and crop_code = 'potato' and minimum = 0 and maximum = 125000;
