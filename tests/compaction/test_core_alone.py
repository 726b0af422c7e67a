from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PROGRAM = """
import sys
before = set(sys.modules)
import pkgutil, importlib, compaction
for module in pkgutil.iter_modules(compaction.__path__):
    importlib.import_module(f"compaction.{module.name}")
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""


def test_core_imports_the_standard_library_only() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}){PROGRAM}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stdout.split()) - set(sys.stdlib_module_names) == {"compaction"}
