"""A data value set for DHIS2 of the yields in all districts, named by two tables: org_units.csv and data_elements.csv.

    AGRO_URL=... AGRO_KEY=... python3 dhis2.py rwa potato > values.json
    curl -u admin https://dhis2.example.org/api/dataValueSets?dryRun=true -H 'Content-Type: application/json' -d @values.json

What has no value, and why, is in `left_out` and on standard error; DHIS2 does not read it.
"""

import csv
import json
import os
import sys
from pathlib import Path

from agro_advisory import AdvisoryClient

FOLDER = Path(__file__).parent


def table(name):
    with open(FOLDER / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


country, crop = sys.argv[1:3]
client = AdvisoryClient(os.environ["AGRO_URL"], os.environ["AGRO_KEY"])
request = {
    "admin": {"country_code": country, "level": 1},
    "crop": crop,
    "format": "dhis2",
    "dhis2": {"org_units": table("org_units.csv"), "data_elements": table("data_elements.csv")},
}
values = client.call("POST", "/advisory/yield/polygons", body=request)
json.dump(values, sys.stdout, indent=1)

for place in values["left_out"]:
    print(f"{place.get('id', 'the rest')}: {place['error']}", file=sys.stderr)
if any("id" not in place for place in values["left_out"]):
    sys.exit(1)
