"""Installs packages while the snapshot of the interpreter is made, and imports modules before the first block."""

import importlib
import json
import os
import site
import sys
import zipfile

_SITE = site.getsitepackages()[0]


def install(path):
    """Unpacks a wheel, if all of it can be read."""
    with zipfile.ZipFile(path) as wheel:
        broken = wheel.testzip()
        if broken is not None:
            raise zipfile.BadZipFile(f"{broken} is damaged")
        for info in wheel.infolist():
            first, _, rest = info.filename.partition("/")
            if first.endswith(".data"):
                kind, _, info.filename = rest.partition("/")
                if kind not in ("purelib", "platlib") or info.filename == "":
                    continue
            # Leaves out `..` and leading slashes.
            wheel.extract(info, _SITE)


def installed():
    """The paths of all files, relative to the directory of packages."""
    return json.dumps(
        [
            os.path.relpath(os.path.join(directory, name), _SITE)
            for directory, _, names in os.walk(_SITE)
            for name in names
        ]
    )


def imported(names):
    """Imports modules. Returns what went wrong, as JSON."""
    importlib.invalidate_caches()
    failures = []
    for name in json.loads(names):
        try:
            importlib.import_module(name)
        except BaseException as error:
            failures.append(f"{name} cannot be imported: {type(error).__name__}: {error}")
    return json.dumps(failures)


def machine_code():
    """Imports every module with machine code: blocks cannot load any."""
    for path in json.loads(installed()):
        stem, dot, suffix = os.path.basename(path).partition(".")
        if suffix.endswith("so"):
            name = os.path.join(os.path.dirname(path), stem).replace("/", ".")
            try:
                importlib.import_module(name)
            except Exception:
                # For another platform, or for an optional dependency.
                sys.modules.pop(name, None)
