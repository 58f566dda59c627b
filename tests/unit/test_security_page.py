"""docs/security.md names the test that proves each of its claims; those tests exist."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.template import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", PAGE)))


@pytest.mark.parametrize("named", NAMED)
def test_a_test_that_is_named_exists(named: str) -> None:
    path, _, function = named.partition("::")
    parsed = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    tests = {node.name for node in parsed.body if isinstance(node, ast.FunctionDef)}
    assert any(name.startswith("test_") for name in tests)
    assert not function or (function in tests and function.startswith("test_"))


@pytest.mark.parametrize("number", range(1, 11))
def test_each_of_the_ten_holes_has_its_tests(number: int) -> None:
    (row,) = re.findall(rf"^\| V-{number:02} .*$", PAGE, re.MULTILINE)
    assert f"::test_v_{number:02}_" in row


def test_every_attack_on_the_ten_holes_is_named() -> None:
    attacks = (ROOT / "tests" / "security" / "test_ten_holes.py").read_text(encoding="utf-8")
    found = re.findall(r"^def (test_v_\w+)", attacks, re.MULTILINE)
    assert [name for name in found if f"::{name}`" not in PAGE] == []


def test_every_parameter_and_command_that_is_named_exists() -> None:
    template = (ROOT / "template.yaml").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for parameter in ("AuthorizerTtlSeconds", "ThrottleRate", "CallerThrottleRate", "RedactEmails"):
        assert parameter in PAGE
        assert f"\n  {parameter}:\n" in template
    for target in re.findall(r"`make (\w+)`", PAGE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
