"""The deployed stack as CloudFormation describes it: names of its resources, and what references mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.aws import Aws
from local.environment import REGION
from local.failure import StackFailed

STACK_NAME = "jobqueue"
ACCOUNT = "000000000000"
VARIABLE = re.compile(r"\$\{([^!][^}]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """A deployed stack.

    Attributes
    ----------
    template : mapping
        Its template with the SAM transform applied.
    resources : mapping of str to str
        Physical ids by logical ids.
    parameters : mapping of str to str
        Values of its parameters, defaults included.
    outputs : mapping of str to str
        Values of its outputs.
    """

    template: Mapping[str, Any]
    resources: Mapping[str, str]
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]

    def of_type(self, kind: str) -> dict[str, Any]:
        """Return the properties of the resources of one CloudFormation type, by logical id."""
        return {
            name: resource.get("Properties", {})
            for name, resource in self.template["Resources"].items()
            if resource["Type"] == kind
        }

    def resolve(self, value: Any) -> Any:
        """Return `value` with its references to resources and parameters replaced.

        Raises
        ------
        StackFailed
            On a reference that is not Ref, Fn::GetAtt of an Arn, or Fn::Sub of these.
        """
        match value:
            case {"Ref": str(name), **rest} if not rest:
                return self._reference(name)
            case {"Fn::GetAtt": [str(name), "Arn"], **rest} if not rest:
                return self._arn(name)
            case {"Fn::Sub": [str(text), dict(given)], **rest} if not rest:
                return self._substitute(text, {name: self.resolve(item) for name, item in given.items()})
            case {"Fn::Sub": str(text), **rest} if not rest:
                return self._substitute(text, {})
            case dict():
                if unknown := [name for name in value if name.startswith("Fn::")]:
                    raise StackFailed(f"local/ cannot resolve {unknown[0]} of {json.dumps(value)}")
                return {name: self.resolve(item) for name, item in value.items()}
            case list():
                return [self.resolve(item) for item in value]
            case _:
                return value

    def _substitute(self, text: str, given: Mapping[str, str]) -> str:
        def replace(match: re.Match[str]) -> str:
            name = match[1]
            if name in given:
                return given[name]
            return self._arn(name[:-4]) if name.endswith(".Arn") else self._reference(name)

        return VARIABLE.sub(replace, text)

    def _reference(self, name: str) -> str:
        pseudo = {
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT,
            "AWS::Partition": "aws",
            "AWS::StackName": STACK_NAME,
            "AWS::URLSuffix": "amazonaws.com",
        }
        for known in (pseudo, self.parameters, self.resources):
            if name in known:
                return known[name]
        raise StackFailed(f"the template refers to {name}, which the stack does not have")

    def _arn(self, name: str) -> str:
        if self.template["Resources"][name]["Type"] != "AWS::Lambda::Function":
            raise StackFailed(f"local/ knows the ARNs of functions only, not of {name}")
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self._reference(name)}"


def describe(aws: Aws) -> Stack:
    """Return the deployed stack."""
    client = aws.cloudformation()
    body: Any = client.get_template(StackName=STACK_NAME, TemplateStage="Processed")["TemplateBody"]
    described = client.describe_stacks(StackName=STACK_NAME)["Stacks"][0]
    pages = client.get_paginator("list_stack_resources").paginate(StackName=STACK_NAME)
    return Stack(
        template=json.loads(body) if isinstance(body, str) else body,
        resources={
            item["LogicalResourceId"]: item["PhysicalResourceId"]
            for page in pages
            for item in page["StackResourceSummaries"]
        },
        parameters={item["ParameterKey"]: item["ParameterValue"] for item in described.get("Parameters", [])},
        outputs={item["OutputKey"]: item["OutputValue"] for item in described.get("Outputs", [])},
    )
