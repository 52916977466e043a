"""A report on the districts of a country, in Markdown: what is predicted there, and how it is spread.

    AGRO_URL=... AGRO_KEY=... python3 district_report.py rwa potato > report.md
"""

import os
import sys

from agro_advisory import AdvisoryClient

country, crop = sys.argv[1:3]
level = int(sys.argv[3]) if len(sys.argv) > 3 else 1

client = AdvisoryClient(os.environ["AGRO_URL"], os.environ["AGRO_KEY"])
districts = []
missing = []
for item in client.areas("yield", country_code=country, level=level, crop=crop):
    (missing if item.get("code") else districts).append(item)
if not districts:
    sys.exit("There is no prediction for any district.")

first = districts[0]
print(f"# Predicted {crop} yields, {first['forecast_period']}\n")
print(f"Release `{first['release']}`.")
if first["synthetic"]:
    print("\n**A formula made these numbers: they are no advice.**")

print("\n| District | Hectares | Normal season, kg/ha | Smallest | Largest | Poor season, kg/ha |")
print("|---|---:|---:|---:|---:|---:|")


def yields(item):
    return {entry["scenario"]: entry for entry in item["yield_data"]}


def mean(item):
    return yields(item).get("Normal", {}).get("yield_kg_ha", 0)


for item in sorted(districts, key=mean, reverse=True):
    normal, poor = (yields(item).get(scenario, {}) for scenario in ("Normal", "Below Normal"))
    place = item["location"]
    figures = [normal.get("yield_kg_ha"), normal.get("min"), normal.get("max"), poor.get("yield_kg_ha")]
    cells = ["" if figure is None else f"{figure:,}" for figure in figures]
    print(f"| {place['name']} | {place['area_ha']:,.0f} | {' | '.join(cells)} |")

for item in missing:
    print(f"\nNo prediction for {item.get('id')}: {item['error']}")
