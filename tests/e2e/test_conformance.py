"""schemathesis looks for what the description of the API does not tell, on the deployed stack."""

from __future__ import annotations

from typing import Any

import schemathesis

from tests.e2e.running import Stack
from tests.support.conformance import checked_schema, role_of
from tests.support.contract import document

schema = checked_schema(examples=4, is_thorough=False)


def test_the_description_is_served_to_everybody(stack: Stack) -> None:
    answer = stack.http.get(stack.state.url + "/openapi.json")

    assert answer.status_code == 200
    assert answer.json() == document()


@schema.parametrize()
def test_the_stack_does_what_its_description_says(case: schemathesis.Case[Any], stack: Stack) -> None:
    role = role_of(case)

    case.call_and_validate(
        base_url=stack.state.url,
        headers={"Authorization": f"Bearer {stack.state.keys[role]}"} if role else {},
    )
