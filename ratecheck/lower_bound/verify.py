"""`python -m ratecheck.lower_bound.verify certificate.json`: check a lower bound again, in ball arithmetic."""

import json
import sys
from pathlib import Path

from .certificate import statement, whose
from .inequalities import verify


def _once(pairs):
    if len(dict(pairs)) < len(pairs):
        raise ValueError("this is not a certificate: a key stands twice")
    return dict(pairs)


def main(arguments) -> int:
    if len(arguments) != 1:
        print("usage: python -m ratecheck.lower_bound.verify certificate.json", file=sys.stderr)
        return 2
    try:
        content = json.loads(Path(arguments[0]).read_text(encoding="utf-8"), object_pairs_hook=_once)
        proved = verify(content)
        said = whose(content)
    except OSError as error:
        print(f"{arguments[0]}: {error.strerror}", file=sys.stderr)
        return 2
    except (ValueError, RecursionError) as error:
        print(f"REFUSED: {error}")
        return 1
    for line in proved:
        print(f"proved: {line['claim']}: {line['smaller']} <= {line['larger']}")
    print(f"VERIFIED: {statement(content)}; {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
