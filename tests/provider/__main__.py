"""Serve the test provider until interrupted."""

import argparse
import signal

from tests.provider.api import Settings
from tests.provider.faults import Fault, Rule
from tests.provider.server import Provider


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--seed", type=int, default=1, help="of every random choice")
    parser.add_argument("--token-delay-s", type=float, default=0.0, help="pause before each delta")
    parser.add_argument("--api-key", default="", help="the key that calls must carry")
    parser.add_argument("--fault-rate", type=float, default=0.0, help="share of calls that fail")
    parser.add_argument(
        "--faults",
        nargs="+",
        type=Fault,
        default=[Fault.TOO_MANY, Fault.ERROR, Fault.BAD_GATEWAY, Fault.OVERLOADED],
        help=f"what they fail with: {', '.join(Fault)}",
        metavar="FAULT",
    )
    asked = parser.parse_args()
    settings = Settings(token_delay_s=asked.token_delay_s, api_key=asked.api_key)
    if asked.fault_rate:
        settings.rules.append(Rule(tuple(asked.faults), rate=asked.fault_rate))
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    with Provider(settings, seed=asked.seed, port=asked.port) as provider:
        print(provider.url, flush=True)
        signal.sigwait(ends)


if __name__ == "__main__":
    main()
