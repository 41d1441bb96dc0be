"""One partition twelve hours behind: what alignment does to the state of a query.

    python examples/skew.py [--page skew.html]

Needs what `make setup` builds, and a JDK. See `examples/skew_day/` for the parts.
"""

from __future__ import annotations

import sys

from examples.skew_day.command import main

if __name__ == "__main__":
    sys.exit(main())
