"""500 mixed calls, a third of them failing, stops, and four kill -9: do the books agree?

    python -m benchmarks.ledger_campaign [--calls 500] [--kills 4] [--seed 1]

Two web processes and a worker are driven by people who ask, stop, hang up, search and add texts,
scans and recordings. Every usage row is then held against what the provider received, and a reader
beside it all has looked at every balance many times a second. Ends with 1 where anything is off.
"""

import argparse
import sys
import time

from benchmarks.stage import database, folder, heading, product
from tests.product.campaign import TRIAL, Campaign, slow_provider


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=500)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    heading("Ledger campaign")
    begun = time.monotonic()
    with folder() as data, database(data) as url, slow_provider() as provider:
        environment = {"INFERENCE_BASE_URL": provider.url, **TRIAL}
        with product(url, data, **environment) as beleg:
            campaign = Campaign(provider, beleg, asked.calls, asked.kills, asked.seed)
            watch, books = campaign.run()
    print(books.check())
    print(f"{dict(campaign.did)}; {time.monotonic() - begun:.0f} s")
    print(f"{watch.reads} reads of the balances, {len(watch.wrong)} wrong: {watch.wrong[:3]}")
    if watch.wrong:
        sys.exit(1)


if __name__ == "__main__":
    main()
