-- Summaries are stored in runs of blocks that lie side by side: a row for each block took twice what it held.
-- Those of the first form are made anew by `agro migrate` or the next start; until then the tiles themselves are read.

comment on table tile_summary is
  'Statistics of blocks of pixels. On level 0 the blocks are the tiles, on each further one they are four times as wide and high, up to one for the whole coverage. A row is a run of 32 blocks side by side; one without any value is left out.';
comment on column tile_summary.block_column is
  'Of the run: its first block is 32 times as far.';
comment on column tile_summary.bands is
  'Which blocks have values, and of each band and block: the area of the valid pixels (square metres on the ellipsoid, or square units of a projected CRS), and of the pixels, before scale and offset and each weighed by its area, the mean, the sum of squared differences from it, the smallest and the largest. src/raster/summary-run.ts has the form.';

-- Rows of a coverage come in the order of these keys: pages are left full, since nothing comes between them later.
alter index raster_tile_pkey set (fillfactor = 100);
alter index tile_summary_pkey set (fillfactor = 100);
