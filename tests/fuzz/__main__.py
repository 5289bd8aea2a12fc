"""`python -m fuzz`: see the package."""

import sys

from fuzz.driver import main

sys.exit(main())
