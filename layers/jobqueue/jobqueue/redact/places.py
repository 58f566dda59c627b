"""Stack frames and file paths: they tell how a machine is built, and what its people are called."""

from __future__ import annotations

import re

from jobqueue.redact.markers import FRAME, PATH

_SOURCES = (
    "c|cc|cjs|clj|cpp|cs|dart|erl|exs?|go|groovy|java|jsx?|kts?|lua|mjs|php|p[lmy]|rb|rs|scala|swift|tsx?|vue"
)
_AT_SOURCE = rf"[\w.@/\\:$<>-]{{1,512}}\.(?:{_SOURCES}):\d+(?::\d+)?"
_INLINE_FRAME = re.compile(
    rf"""
      File[ ]\\?"[^"\n]{{0,1024}}",[ ]line[ ]\d+ (?:,[ ]in[ ][\w.<>]{{1,128}})?
    # Java, JavaScript: at com.foo.Bar.baz(Bar.java:33)
    | (?<![\w.]) at[ ] (?:(?:async|new)[ ])? [\w.$<>/@-]{{1,256}} [ ]?
      \( (?: {_AT_SOURCE} | Native[ ]Method | Unknown[ ]Source ) \)
    # Ruby: from /x/y.rb:12:in `foo'
    | (?<![^\s("'`\[]) (?:from[ ])? [^\s"'`()]{{1,512}}\.rb:\d+:in[ ][`'][^'\n]{{1,128}}'
    """,
    re.VERBOSE,
)
# Such a line is one even where it is not indented.
_LONE_FRAME = re.compile(rf"at {_AT_SOURCE}|from \S{{1,512}}\.rb:\d+:in [`'].{{1,128}}'")
_POSITION = re.compile(r":\d+\)?(?:\W|$)|:line \d+|\((?:Native Method|Unknown Source|<anonymous>|native)\)")
_NUMBERED = re.compile(r"#\d{1,4}\s+(?:\S{1,1024}\(\d+\):|0x[0-9a-fA-F]+ in |\{main\})")
_GO_POSITION = re.compile(r"\t/\S+\.go:\d+")

_ROOTS = (
    "Applications|Library|Users|Volumes|bin|boot|dev|etc|home|lib|lib64|mnt|nix|opt|private|proc|root|sbin"
    "|srv|sys|tmp|usr|var"
)
_EXTENSIONS = (
    "bak|cfg|class|conf|crt|cs|db|dll|env|exe|go|ini|jar|java|jks|js|jsx|key|kdbx|kt|log|p12|pem|pfx|php|pid|py"
    "|pyc|rb|rs|sh|so|sock|sqlite|toml|ts|tsx|yaml|yml"
)
_IN_PATH = r"[^\s\"'`<>|,;:(){}\[\]]"
_IN_NAME = r"[^\s\"'`<>|,;:(){}\[\]\\]"
_PATH = re.compile(
    rf"""
    file://[^\s"'`<>]+
    # between quotes it may hold spaces
    | (?<=["'`]) (?:/(?:{_ROOTS})/ | ~/ | [A-Za-z]:\\) [^"'`\n]*+ (?=["'`])
    | (?<![\w./%\]\\~-]) /(?:{_ROOTS})(?:/{_IN_NAME}*+ | (?=$|[\s"'`,;:)]))
    | (?<![\w./%\]\\~-]) ~[\w-]{{0,32}}/{_IN_NAME}++
    # from where the program happens to run
    | (?<![\w./%\]\\~-]) (?:\.{{1,2}}[/\\]{{1,2}}){{1,16}} \.?[\w@$+-] {_IN_PATH}*+
    | (?<![\w./:%@\]\\~+-]) (?:[\w+-]{{1,64}}/){{1,16}} [\w+-][\w.+-]{{0,254}}?\.(?:{_EXTENSIONS}|{_SOURCES})
      (?![\w/-])
    | (?<![\w./%\]\\~-]) /(?:[\w.@+-]{{1,255}}/){{0,64}}[\w@+-][\w.@+-]{{0,254}}?\.(?:{_EXTENSIONS})(?![\w/-])
    | (?<![A-Za-z0-9]) [A-Za-z]:\\{{1,2}} (?:{_IN_PATH} | [ ](?=[^\s\\]{{1,64}}\\))+
    | (?<![\\\w]) \\\\{{1,3}}[\w.$-]{{1,64}}\\{{1,2}}[^\s"'`<>|,;]++
    """,
    re.VERBOSE,
)
_METHOD = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)[ \t]$")


def hide_frames(text: str) -> str:
    """Replace each run of stack frames, with the lines of code that they show, by one marker."""
    kept: list[str] = []
    depth: int | None = None  # how far the last frame was indented, as long as its code may follow
    for line in text.split("\n"):
        if _is_frame(line):
            depth = _indent(line)
            if not kept or kept[-1] != FRAME:
                kept.append(FRAME)
        elif depth is None or not line.strip() or _indent(line) <= depth:
            depth = None
            kept.append(line)
    return _INLINE_FRAME.sub(FRAME, "\n".join(kept))


def hide_paths(text: str) -> str:
    """Replace paths of files. The path of a request, as in ``GET /var/1``, is none."""
    return _PATH.sub(_unless_request, text)


def _unless_request(found: re.Match[str]) -> str:
    before = found.string[max(0, found.start() - 8) : found.start()]
    return found[0] if _METHOD.search(before) else PATH


def _is_frame(line: str) -> bool:
    code = line.strip(" \t|+")
    if code.startswith('File "'):
        return '", line ' in code
    if code.startswith("at "):
        return line[:1].isspace() and _POSITION.search(code) is not None
    if _LONE_FRAME.fullmatch(code):
        return True
    return _NUMBERED.match(code) is not None or _GO_POSITION.match(line) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t|+"))
