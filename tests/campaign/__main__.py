# SPDX-License-Identifier: MIT
"""Runs random scenarios to find unexpected faults: script/campaign [--seconds N] [--seed S]… [--lab]"""
import argparse
import json
import pathlib
import random
import sys
import time

import oracle
import scenario
import shrink

CORPUS = pathlib.Path(__file__).with_name("corpus.jsonl")


def corpus(in_lab):
    """Returns every scenario that has ever failed. The corpus stores whole scenarios, because a seed yields a
    different scenario after the generator changes."""
    made = [json.loads(line) for line in CORPUS.read_text().splitlines()]
    return [one for one in made if (one["source"] == "iio") == in_lab]


def tell(seed, made, found, out):
    print(f"seed {seed} FAILED: {'; '.join(found)}")
    print(f"  {json.dumps(made)}")
    print(f"  iio-stream stream {' '.join(out.words)}")
    for part in scenario.hosts(made):
        print(f"  depends on the host, not on the seed: {part}")


def attempt(seed, made, options):
    try:
        found, out = oracle.judge(made, options.keep)
    except Exception:
        print(f"seed {seed}: the campaign itself failed on {json.dumps(made)}", flush=True)
        raise
    if not found:
        return "refused" if out.refused else "well"
    tell(seed, made, found, out)
    if not options.no_shrink:
        made, found, out, again = shrink.shrink(made, found)
        if again or str(seed).startswith("corpus"):
            print("  shrunk to:")
            tell(seed, made, found, out)
        else:
            print("  did not fail again in three replays", flush=True)
            return "once"
    sys.stdout.flush()
    return "failed"


def main():
    parser = argparse.ArgumentParser(prog="script/campaign", description=__doc__)
    parser.add_argument("--seconds", type=float,
                        help="run new seeds for this time (default 120, without --seed and --corpus)")
    parser.add_argument("--seed", type=int, action="append", help="run this seed; repeatable")
    parser.add_argument("--lab", action="store_true", help="run in the lab, with its converter as the source")
    parser.add_argument("--corpus", action="store_true", help="first run every scenario that has ever failed")
    parser.add_argument("--keep", help="keep the files of a failure in this folder")
    parser.add_argument("--no-shrink", action="store_true", help="show a failure without shrinking it")
    parser.add_argument("--confirmed", action="store_true",
                        help="count a new seed as failed only if it fails again")
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    options = parser.parse_args()
    if options.lab:
        print("campaign: in the lab the source is its converter; pipes, copies, clock steps and store faults"
              " are left out", flush=True)
    if not (options.seed or options.corpus) and options.seconds is None:
        options.seconds = 120
    outcomes = {}
    begun = time.monotonic()

    def take(seed, made):
        if options.lab:  # after its kernel crashes, a guest cannot print the seed
            print(f"seed {seed}", file=sys.stderr, flush=True)
        outcomes[seed] = attempt(seed, made, options)

    for number, made in enumerate(corpus(options.lab) if options.corpus else []):
        take(f"corpus:{number}", made)
    for seed in options.seed or []:
        take(seed, scenario.generate(seed, options.lab))
    begun_new, chance = time.monotonic(), random.SystemRandom()
    while options.seconds and time.monotonic() - begun_new < options.seconds and \
            not (options.first and {"failed", "once"} & set(outcomes.values())):
        seed = chance.randrange(1 << 32)
        take(seed, scenario.generate(seed, options.lab))

    def ended(how):
        return [str(seed) for seed, outcome in outcomes.items() if outcome == how]

    failed, once = ended("failed"), ended("once")
    print(f"campaign: {len(outcomes)} seeds in {time.monotonic() - begun:.0f} s, {len(ended('refused'))} refused, "
          f"{len(failed)} failed, {len(once)} once and not again: {' '.join(failed + once) or '-'}")
    return 1 if failed or (once and not options.confirmed) else 0


if __name__ == "__main__":
    sys.exit(main())
