import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from novum.running.settings import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WANTED = PROJECT["dependencies"]
WANTED_DEV = WANTED + PROJECT["optional-dependencies"]["dev"]


def locked(name):
    lines = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / name).read_text(), re.M)
    return {canonicalize_name(package): version for package, version in lines}


def is_met(need, versions):
    version = versions.get(canonicalize_name(need.name))
    return version is not None and need.specifier.contains(version, prereleases=True)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("requirements.txt", WANTED), ("requirements-dev.txt", WANTED_DEV)],
)
def test_the_lock_holds_all_that_the_project_wants(name, wanted):
    versions = locked(name)
    missing = [line for line in wanted if not is_met(Requirement(line), versions)]
    assert missing == [], "run `make lock`"


def test_the_tests_run_with_what_the_product_runs_with():
    assert locked("requirements.txt").items() <= locked("requirements-dev.txt").items()


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_the_lock_names_no_host_and_no_folder(name):
    text = (ROOT / name).read_text()
    assert not re.search(r"://|--(extra-)?index|--find-links|@ ", text)
    assert text.count("--hash=sha256:") > len(locked(name))
