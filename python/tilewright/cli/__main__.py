"""`python -m tilewright.cli`, for trees without console scripts."""

import sys

from . import main

sys.exit(main())
