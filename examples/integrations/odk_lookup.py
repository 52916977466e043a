"""A file for pulldata() of ODK: the fertilizer of each area by its code, to attach to a form as areas.csv.

    AGRO_URL=... AGRO_KEY=... python3 odk_lookup.py rwa potato > areas.csv

In the form:  pulldata('areas', 'urea_kg_ha', 'code', ${area})
"""

import csv
import os
import sys

from agro_advisory import AdvisoryClient

SCENARIO = "Normal"

country, crop = sys.argv[1:3]
client = AdvisoryClient(os.environ["AGRO_URL"], os.environ["AGRO_KEY"])

rows = []
inputs = []
for item in client.areas("fertilizer", country_code=country, level=1, crop=crop):
    row = {"code": item["id"], "name": item.get("location", {}).get("name", "")}
    for entry in item.get("fertilizer_data") or []:
        if entry["scenario"] == SCENARIO:
            # Names of columns are names in a form: small letters, digits and underscores.
            column = entry["fertilizer_type"].lower().replace(" ", "_") + "_kg_ha"
            row[column] = entry["rate_kg_ha"]
            if column not in inputs:
                inputs.append(column)
    row["release"] = item.get("release", "")
    rows.append(row)

table = csv.DictWriter(sys.stdout, ["code", "name", *inputs, "release"], restval="", lineterminator="\n")
table.writeheader()
table.writerows(rows)
