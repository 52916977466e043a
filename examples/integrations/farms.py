"""Advice for a file of farms: a CSV with id, lat, lng and area_ha on standard input, one with the fertilizer on standard output.

    AGRO_URL=http://127.0.0.1:3000 python3 farms.py < ../rwanda/farms.csv > advised.csv
"""

import csv
import os
import sys

from agro_advisory import AdvisoryClient

SCENARIO = "Normal"

client = AdvisoryClient(os.environ["AGRO_URL"], os.environ.get("AGRO_KEY"))
farms = list(csv.DictReader(sys.stdin))
points = [{"id": farm["id"], "lat": float(farm["lat"]), "lng": float(farm["lng"])} for farm in farms]

table = csv.writer(sys.stdout)
table.writerow(["id", "input", "kg_ha", "kg", "release", "why_not"])
answers = client.points("fertilizer", points, crop="potato", country_code="rwa")
for farm, answer in zip(farms, answers):
    if answer.get("code"):
        table.writerow([farm["id"], "", "", "", answer.get("release", ""), answer["code"]])
        continue
    for entry in answer["fertilizer_data"]:
        if entry["scenario"] == SCENARIO:
            rate = entry["rate_kg_ha"]
            amount = round(rate * float(farm["area_ha"]), 1)
            table.writerow([farm["id"], entry["fertilizer_type"], rate, amount, answer["release"], ""])
