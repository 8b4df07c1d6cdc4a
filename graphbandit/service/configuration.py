"""The settings in bandits.toml: the service, who may use it, and one table for each bandit."""

import math
import os
import re
import tomllib
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from graphbandit.base.similar_names import expected
from graphbandit.errors import ConfigurationError
from graphbandit.service.protocol import Aggregation
from graphbandit.service.rows import DecisionBody

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
"""Units of time, in seconds."""
Scope = Literal["read", "decide", "observe", "admin"]
"""What a token may allow; "admin" allows everything."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
LONGEST_NAME = 256
"""The most characters of an arm's name or a decision's key."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The largest requests that are allowed."""

    body_bytes: int = 1_048_576
    arms: int = 1_000
    batch: int = 1_000
    open_decisions: int = 2_000_000
    seconds: float = 10.0
    connections: int = 1_000


class Token(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A bearer token: its text, its SHA-256 digest, or the environment variable that holds it; and what it allows."""

    scopes: list[Scope]
    token: str | None = None
    sha256: str | None = None
    environment: str | None = None


class ServiceSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the service listens and keeps its log."""

    host: str = "127.0.0.1"
    port: int = 8765
    names: list[str] = []
    database: str | None = None
    limits: Limits = Limits()


class BanditSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One bandit; `template.toml` explains every setting."""

    arms: list[str] | Literal["request"]
    description: str = ""
    capacity: int | None = None
    features: dict[str, Any] = {}
    arm_features: dict[str, Any] = {}
    hashed: int | None = None
    learner: str | dict[str, Any] = "IDSG"
    function_class: str | dict[str, Any] = "linear"
    noise: float | None = None
    half_life: float | None = None
    longest_epoch: int = 10_000
    graph: str | list[list[str]] | dict[str, Any] = "loops"
    graphs: dict[str, str | list[list[str]] | dict[str, Any]] = {}
    retired: list[str] = []
    window: str | float | None = None
    default_reward: float | None = None
    default_for: Literal["played", "revealed"] = "played"
    aggregation: Aggregation = "once"
    mode: Literal["live", "apprentice"] = "live"
    baseline: str = "uniform"
    reward_range: tuple[float, float] = (0.0, 1.0)

    @property
    def own_arms(self) -> bool:
        """Whether arms come with each request."""
        return self.arms == "request"

    @property
    def names(self) -> tuple[str, ...]:
        """The arms' names; empty if arms come with the request."""
        return () if isinstance(self.arms, str) else tuple(self.arms)

    @property
    def slots(self) -> int:
        """K of the problem: places for the arms, and for those that may be added."""
        return self.capacity if self.capacity is not None else (50 if self.own_arms else len(self.names))

    @property
    def window_seconds(self) -> float | None:
        """How long to wait for the rewards of a decision; None: forever."""
        return None if self.window is None else seconds(self.window)

    def defaulted(self, body: DecisionBody) -> list[str]:
        """The arms of a decision that get the default reward if no other comes."""
        return [arm for arm in body.revealed if self.default_for == "revealed" or arm == body.arm]


FIXED = (
    "hashed",
    "features",
    "arm_features",
    "learner",
    "function_class",
    "noise",
    "half_life",
    "longest_epoch",
    "capacity",
)
"""Settings that must not change once a bandit has a log: its model is made of them."""


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """All of bandits.toml, checked."""

    service: ServiceSettings
    tokens: dict[str, Token]
    bandits: dict[str, BanditSettings]
    folder: Path

    @property
    def default_database(self) -> str:
        """The database that the configuration names, or a SQLite file beside it."""
        return self.service.database or str(self.folder / "bandits.db")


def read(path: str | os.PathLike[str]) -> Configuration:
    """The configuration in a file; ConfigurationError names the setting that is wrong."""
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError("", f"{source} cannot be read: {error}") from error
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError("", f"{source} is not TOML: {error}") from error
    return parse(tables, source.absolute().parent)


def parse(tables: dict[str, Any], folder: Path) -> Configuration:
    """The configuration from the tables of a TOML file."""
    unknown = sorted(set(tables) - {"service", "tokens", "bandits"})
    if unknown:
        raise ConfigurationError(unknown[0], f"is not known; {expected(unknown[0], ('service', 'tokens', 'bandits'))}")
    service = _converted("service", tables.get("service", {}), ServiceSettings)
    tokens = {name: _token(name, table) for name, table in _tables("tokens", tables.get("tokens", {})).items()}
    bandits = {name: _bandit(name, table) for name, table in _tables("bandits", tables.get("bandits", {})).items()}
    if not bandits:
        raise ConfigurationError("bandits", "is empty; expected at least one table, such as [bandits.prices]")
    for field in ("body_bytes", "arms", "batch", "open_decisions", "connections"):
        if getattr(service.limits, field) < 1:
            found = getattr(service.limits, field)
            raise ConfigurationError(f"service.limits.{field}", f"is {found}; expected at least 1")
    if not 0 < service.limits.seconds <= 3600:
        raise ConfigurationError("service.limits.seconds", f"is {service.limits.seconds}; expected above 0, up to 3600")
    if not 0 <= service.port < 65536:
        raise ConfigurationError("service.port", f"is {service.port}; expected 0 to 65535")
    return Configuration(service=service, tokens=tokens, bandits=bandits, folder=folder)


def _tables(field: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ConfigurationError(field, f"is {value!r}; expected a table")
    for name in value:
        if not NAME.match(name):
            raise ConfigurationError(
                f"{field}.{name}",
                "is not a name; expected up to 64 letters, digits, '_', '.' or '-', a letter or digit first",
            )
    return value


def _converted(field: str, value: Any, kind: Any) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        message, _, place = str(error).partition(" - at `$")
        place = field + place.rstrip("`")
        named = re.match(r"Object (contains unknown|missing required) field `(.*)`", message)
        if named is not None:
            place += f".{named[2]}"
            message = "is missing"
            if named[1] == "contains unknown":
                known = Limits if place.startswith(f"{field}.limits.") else kind
                message = f"is not known; {expected(named[2], known.__struct_fields__)}"
        raise ConfigurationError(place, message) from None


def _token(name: str, table: Any) -> Token:
    field = f"tokens.{name}"
    token: Token = _converted(field, table, Token)
    given = [key for key in ("token", "sha256", "environment") if getattr(token, key) is not None]
    if len(given) != 1:
        raise ConfigurationError(field, f"has {given or 'none'} of token, sha256 and environment; expected one")
    if token.token is not None and len(token.token) < 16:
        raise ConfigurationError(f"{field}.token", f"has {len(token.token)} characters; expected at least 16")
    if token.sha256 is not None and not re.fullmatch("[0-9a-f]{64}", token.sha256):
        raise ConfigurationError(f"{field}.sha256", "is not a digest; expected 64 hexadecimal digits")
    if not token.scopes:
        raise ConfigurationError(f"{field}.scopes", f"is empty; expected some of {', '.join(get_args(Scope))}")
    return token


def _bandit(name: str, table: Any) -> BanditSettings:
    field = f"bandits.{name}"
    bandit: BanditSettings = _converted(field, table, BanditSettings)

    def refuse(setting: str, message: str) -> ConfigurationError:
        return ConfigurationError(f"{field}.{setting}", message)

    if not bandit.own_arms:
        if not bandit.names or len(set(bandit.names)) < len(bandit.names):
            raise refuse("arms", 'has a name twice, or is empty; expected different names, or "request"')
        for arm in bandit.names:
            if not arm or len(arm) > LONGEST_NAME:
                raise refuse("arms", f"has the name {arm!r}; expected 1 to {LONGEST_NAME} characters")
        if len(bandit.names) > bandit.slots:
            raise refuse("capacity", f"is {bandit.capacity}; expected at least {len(bandit.names)}, one for each arm")
        if bandit.hashed is not None:
            raise refuse("hashed", 'is for arms = "request"; expected features here')
        if bandit.arm_features:
            raise refuse("arm_features", 'are for arms = "request"; expected none here')
        if bandit.baseline != "uniform" and bandit.baseline not in bandit.names:
            raise refuse("baseline", f'is {bandit.baseline!r}; expected "uniform" or the name of an arm')
    elif bandit.retired or bandit.graphs or not isinstance(bandit.graph, str):
        raise refuse("arms", 'is "request"; expected no retired, graphs or list of edges beside it')
    elif bandit.features and not bandit.arm_features:
        raise refuse("features", "are declared, but arm_features are not; expected both, or hashed for any features")
    elif bandit.arm_features and bandit.hashed is not None:
        raise refuse("hashed", "came with arm_features; expected one of them")
    if not 1 <= bandit.slots <= 4096:
        raise refuse("capacity", f"is {bandit.slots}; expected 1 to 4096")
    if bandit.hashed is not None and not 2 <= bandit.hashed <= 4096:
        raise refuse("hashed", f"is {bandit.hashed}; expected 2 to 4096")
    unknown = sorted(set(bandit.retired) - set(bandit.names))
    if unknown:
        raise refuse("retired", f"has {unknown[0]!r}, which is not an arm")
    if set(bandit.retired) == set(bandit.names) and bandit.names:
        raise refuse("retired", "has every arm; expected one to be left")
    if bandit.window is not None:
        try:
            seconds(bandit.window)
        except ValueError as error:
            raise refuse("window", str(error)) from None
    if bandit.default_reward is not None:
        if bandit.window is None:
            raise refuse("default_reward", "has no window beside it; expected window, after which it counts")
        if not abs(bandit.default_reward) <= 1e6:
            raise refuse("default_reward", f"is {bandit.default_reward}; expected a number up to 1e6 in size")
    elif bandit.aggregation != "once":
        raise refuse(
            "aggregation", f"is {bandit.aggregation!r} without default_reward; expected window and default_reward"
        )
    low, high = bandit.reward_range
    if not -1e6 <= low < high <= 1e6:
        raise refuse(
            "reward_range", f"is [{low:g}, {high:g}]; expected two numbers up to 1e6 in size, the lower one first"
        )
    if bandit.noise is not None and not 0 < bandit.noise < 1e6:
        raise refuse("noise", f"is {bandit.noise}; expected a number above 0")
    if bandit.half_life is not None and not 0 < bandit.half_life < math.inf:
        raise refuse("half_life", f"is {bandit.half_life}; expected a number of rounds above 0")
    if bandit.longest_epoch < 1:
        raise refuse("longest_epoch", f"is {bandit.longest_epoch}; expected at least 1 round")
    return bandit


def seconds(value: float | str) -> float:
    """A length of time, written as 90, "90s", "30m", "12h" or "7d", in seconds; ValueError unless it is above 0.

    >>> seconds("30m"), seconds(90)
    (1800.0, 90.0)
    """
    text = str(value).strip()
    unit = UNITS.get(text[-1:])
    try:
        length = float(text) if unit is None else float(text[:-1]) * unit
    except ValueError:
        length = math.nan
    if not 0 < length < math.inf:
        raise ValueError(f'{value!r} is not a length of time; expected a number of seconds above 0, or "30m", "12h"')
    return length
