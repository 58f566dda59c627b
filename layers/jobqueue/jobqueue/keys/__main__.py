"""The command line of the keys: ``python -m jobqueue.keys``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO

from botocore.exceptions import BotoCoreError, ClientError

from jobqueue.errors import InvalidKeyGrant, InvalidSettings, JobQueueError, Unavailable
from jobqueue.job import Clock, JobPriority, format_timestamp, utc_now
from jobqueue.keys.apikey import ApiKey
from jobqueue.keys.keyring import Keyring, open_keyring
from jobqueue.principal import Role

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

REFUSED, USAGE, NO_TABLE = 1, 2, 3

_EPILOG = """\
The key alone is printed on standard output, once; everything else goes to standard error:
  export JOBQUEUE_KEY=$(python -m jobqueue.keys create shop --role producer --queue emails)

The table is the stack's output ApiKeysTableName; region and credentials are taken from where every
AWS tool takes them. The credentials need GetItem, PutItem, UpdateItem, DeleteItem and Scan on it.

exit codes: 0 done, 1 refused (the name is taken, or there is no such key), 2 a wrong argument,
3 the table cannot be used (not there, no credentials, no answer).
"""
_CACHED = "The API may remember it for the authorizer's cache time (60 s by default)"


def main(
    arguments: Sequence[str] | None = None,
    *,
    client: DynamoDBClient | None = None,
    clock: Clock = utc_now,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Run one command and return the exit code.

    Parameters
    ----------
    arguments : sequence of str or None
        What follows ``python -m jobqueue.keys``; None takes the process's own.
    client, clock
        What to use instead of a DynamoDB client of the environment and of the time.
    out, err : TextIO or None
        Where to write; None takes the process's own.
    """
    command = _Command(out or sys.stdout, err or sys.stderr, clock)
    options = _parser().parse_args(arguments)
    try:
        command.run(options, open_keyring(client=client, table=options.table, clock=clock))
    except InvalidKeyGrant as error:
        return command.fail(str(error), USAGE)
    except InvalidSettings:
        return command.fail(
            "set API_KEYS_TABLE to the stack's output ApiKeysTableName, or use --table", USAGE
        )
    except (Unavailable, BotoCoreError, ClientError) as error:
        return command.fail(f"the table of keys cannot be used: {error.__cause__ or error}", NO_TABLE)
    except JobQueueError as error:
        return command.fail(str(error), REFUSED)
    return 0


class _Command:
    def __init__(self, out: TextIO, err: TextIO, clock: Clock) -> None:
        self._out = out
        self._err = err
        self._clock = clock

    def run(self, options: argparse.Namespace, keyring: Keyring) -> None:
        match options.command:
            case "create":
                key = keyring.create(
                    options.name,
                    role=options.role,
                    queues=options.queue,
                    max_priority=options.max_priority,
                    expires_in_days=options.expires_in,
                )
                self._hand_over(key, f"Created the key {options.name}.")
            case "rotate":
                key = keyring.rotate(options.name, grace_minutes=options.grace)
                old = (
                    f"works for another {options.grace:g} min" if options.grace else f"is revoked. {_CACHED}"
                )
                self._hand_over(key, f"Rotated the key {options.name}: the old one {old}.")
            case "revoke":
                keyring.revoke(options.name)
                self._say(f"Revoked the key {options.name}. {_CACHED}.")
            case _:
                self._list(keyring.list_keys(), as_json=options.json)

    def fail(self, message: str, code: int) -> int:
        self._say(f"jobqueue.keys: {message}")
        return code

    def _hand_over(self, key: str, message: str) -> None:
        self._out.write(f"{key}\n")
        self._out.flush()  # the key is on its way before anything is said of it
        self._say(f"{message} The key is shown this once.")

    def _list(self, keys: Sequence[ApiKey], *, as_json: bool) -> None:
        rows = [_row(key, self._clock()) for key in keys]
        if as_json:
            self._out.write(json.dumps(rows, indent=2) + "\n")
        elif rows:
            self._out.write(_table(rows))
        else:
            self._say("There are no keys.")

    def _say(self, message: str) -> None:
        self._err.write(message + "\n")


def _row(key: ApiKey, now: datetime) -> dict[str, Any]:
    return {
        "name": key.name,
        "role": key.role.value,
        "queues": sorted(key.queues),
        "max_priority": key.max_priority.value,
        "state": key.state(now).value,
        "created_at": format_timestamp(key.created_at),
        "ends_at": None if key.ends_at is None else format_timestamp(key.ends_at),
    }


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [[column.upper().replace("_", " ") for column in rows[0]]]
    lines += [[_cell(value) for value in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join("  ".join(map(str.ljust, line, widths)).rstrip() + "\n" for line in lines)


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(value)
    return "-" if value is None else str(value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m jobqueue.keys",
        description="Make, list, rotate and revoke the API keys of a deployment of jobqueue.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--table", help="the name of the table of keys (default: $API_KEYS_TABLE)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    create = commands.add_parser("create", help="make a key and print it")
    create.add_argument("name", metavar="NAME", help="1 to 64 of a-z 0-9 . _ -; unique")
    create.add_argument("--role", required=True, choices=list(Role), help="what its bearer may do")
    create.add_argument(
        "--queue",
        required=True,
        action="extend",
        nargs="+",
        metavar="QUEUE",
        help="the queues it is granted, or '*' (quoted) for all of them",
    )
    create.add_argument(
        "--max-priority",
        choices=list(JobPriority),
        type=str.lower,
        help="the highest priority it may enqueue with (default: medium for a producer)",
    )
    create.add_argument(
        "--expires-in", type=float, metavar="DAYS", help="how long it works (default: until revoked)"
    )

    listing = commands.add_parser("list", help="list the keys, never their secrets")
    listing.add_argument("--json", action="store_true", help="as JSON")

    revoke = commands.add_parser("revoke", help="make a key stop and free its name")
    revoke.add_argument("name", metavar="NAME")

    rotate = commands.add_parser("rotate", help="replace a key by a new one with the same name and grants")
    rotate.add_argument("name", metavar="NAME")
    rotate.add_argument(
        "--grace",
        type=float,
        default=0,
        metavar="MINUTES",
        help="let the old key work beside the new one for so long, at most 7 days (default: 0)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
