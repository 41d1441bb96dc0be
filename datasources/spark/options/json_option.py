"""Options that Tidemark sets itself, as JSON."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from datasources.errors import OptionError


class JsonOption(BaseModel):
    """The value of an option, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def parsed(cls, key: str, text: str) -> Self:
        """Return the value of the option with a key.

        Raises:
            OptionError: the text has another form.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the text"
            raise OptionError(f"option '{key}' is set by Tidemark only: {where}: {first['msg']}.") from error
