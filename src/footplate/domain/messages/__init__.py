"""Everything that is said to people: codes with parameters, and the tables that put them into words."""

from footplate.domain.messages.message import (
    Message,
    as_json,
    codes_in,
    from_json,
    is_known,
    plain_params,
    say,
    text,
)

__all__ = ["Message", "as_json", "codes_in", "from_json", "is_known", "plain_params", "say", "text"]
