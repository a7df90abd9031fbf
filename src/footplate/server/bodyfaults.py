"""Translates the framework's validation errors into our problems."""

from __future__ import annotations

from typing import Any

from footplate.domain.errors import message_of
from footplate.domain.messages import Message, say
from footplate.domain.problems import name_of

_OF_KIND = {
    "string_type": "not_text",
    "int_type": "not_whole_number",
    "int_parsing": "not_whole_number",
    "int_from_float": "not_whole_number",
    "float_type": "not_number",
    "float_parsing": "not_number",
    "bool_type": "not_flag",
    "bool_parsing": "not_flag",
    "list_type": "not_list",
    "dict_type": "not_map",
    "model_attributes_type": "not_record",
    "model_type": "not_record",
}
# Which bound a fault names, and the sentence for it.
_OF_BOUND = {
    "greater_than_equal": ("ge", "below_least"),
    "less_than_equal": ("le", "above_most"),
    "greater_than": ("gt", "not_above"),
    "less_than": ("lt", "not_below"),
    "string_too_short": ("min_length", "too_few_characters"),
    "string_too_long": ("max_length", "too_many_characters"),
    "string_pattern_mismatch": ("pattern", "not_of_pattern"),
    "literal_error": ("expected", "not_expected"),
    "enum": ("expected", "not_expected"),
    "json_invalid": ("error", "body_not_json"),
}
_OF_TYPE = {"missing": "required", "extra_forbidden": "unknown_field"}


def describe(fault: dict[str, Any]) -> Message:
    """Say what is wrong with a value that the framework refused."""
    kind, context, given = fault["type"], fault.get("ctx", {}), fault.get("input")
    if kind in _OF_TYPE:
        return say(_OF_TYPE[kind])
    if kind in _OF_KIND:
        return say(_OF_KIND[kind], given=name_of(given))
    if kind in ("too_short", "too_long"):
        return _describe_length(kind, context, given)
    if kind in _OF_BOUND:
        name, code = _OF_BOUND[kind]
        return say(code, bound=context.get(name))
    return message_of(_shown(fault), {})


def _describe_length(kind: str, context: dict[str, Any], given: Any) -> Message:
    if isinstance(given, str):
        bound = context.get("min_length", context.get("max_length"))
        return say("too_few_characters" if kind == "too_short" else "too_many_characters", bound=bound)
    if kind == "too_short":
        return say("too_few_entries", least=context["min_length"], given=len(given or ()))
    return say("too_many_entries", most=context["max_length"], given=len(given or ()))


def _shown(fault: dict[str, Any]) -> str:
    """The framework's own words; one of our checks gives a code of the tables instead."""
    return str(fault["msg"]).removeprefix("Value error, ").encode("utf-8", "backslashreplace").decode()
