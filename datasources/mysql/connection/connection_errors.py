"""Maps PyMySQL's errors to Tidemark's.

Errors of the client have numbers from 2000 to 2999, all others are the server's; the text is the server's own and
has no password.
"""

from __future__ import annotations

from typing import Any, Final

import pymysql
from pymysql.constants import CR, ER

from datasources.errors import InternalError, SourceUnavailable, TidemarkError

_UNREACHABLE: Final = frozenset(
    {
        CR.CR_CONNECTION_ERROR,
        CR.CR_CONN_HOST_ERROR,
        CR.CR_SERVER_GONE_ERROR,
        CR.CR_SERVER_LOST,
        CR.CR_UNKNOWN_HOST,
        ER.CON_COUNT_ERROR,
        ER.SERVER_SHUTDOWN,
    }
)
_NEEDS_TLS: Final = 3159  # ER_SECURE_TRANSPORT_REQUIRED
_REFUSED: Final = frozenset(
    {
        ER.ACCESS_DENIED_ERROR,
        ER.DBACCESS_DENIED_ERROR,
        ER.TABLEACCESS_DENIED_ERROR,
        ER.COLUMNACCESS_DENIED_ERROR,
        ER.SPECIFIC_ACCESS_DENIED_ERROR,
        ER.HOST_IS_BLOCKED,
        ER.HOST_NOT_PRIVILEGED,
        1698,  # ER_ACCESS_DENIED_NO_PASSWORD_ERROR
        3118,  # ER_ACCOUNT_HAS_BEEN_LOCKED
        1820,  # ER_MUST_CHANGE_PASSWORD
        1862,  # ER_MUST_CHANGE_PASSWORD_LOGIN
        _NEEDS_TLS,
    }
)
_NO_SUCH: Final = frozenset({ER.BAD_DB_ERROR, ER.NO_SUCH_TABLE})
_TLS_MARKS: Final = ("SSL", "certificate", "CERTIFICATE")


class ConnectionLost(SourceUnavailable):
    """A connection broke, or timed out, while it was read: another one may succeed."""


def error_number(error: BaseException) -> int:
    """Return MySQL's number of an error, or 0."""
    number: Any = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def is_unreachable(error: pymysql.MySQLError) -> bool:
    """Return whether the server could not be reached, so that a retry may succeed."""
    return error_number(error) in _UNREACHABLE and not _is_about_tls(error)


def is_refused(error: pymysql.MySQLError) -> bool:
    """Return whether the server refused the login or its request."""
    return error_number(error) in _REFUSED


def lacks_tls(error: pymysql.MySQLError) -> bool:
    """Return whether the server has no TLS."""
    return error_number(error) == int(CR.CR_SSL_CONNECTION_ERROR)


def explain(error: pymysql.MySQLError, *, doing: str, server: str, is_plain: bool = False) -> TidemarkError:
    """Return Tidemark's error for one of PyMySQL's.

    Args:
        error: The error.
        doing: The operation, for the message: "reading the end of the binlog".
        server: The login and the server.
        is_plain: Whether the options switch TLS off.
    """
    number, text = error_number(error), str(error.args[-1]) if error.args else type(error).__name__
    reported = f"{text} ({number})" if number else text
    if isinstance(error, pymysql.ProgrammingError | pymysql.InterfaceError) and number not in _NO_SUCH | _REFUSED:
        return InternalError(f"{doing} at {server} failed: {reported}")
    if _is_about_tls(error) or lacks_tls(error):
        return SourceUnavailable(
            f"no TLS connection to {server} while {doing}: {reported}. 'ssl.ca' must name the authority that signed "
            "the server's certificate and the certificate the host ('ssl.mode' = 'verify-ca' leaves that out)."
        )
    if number == CR.CR_SERVER_LOST and isinstance(error.__context__, TimeoutError):
        return SourceUnavailable(
            f"the server {server} sent nothing for as long as 'read.timeout' ('connect.timeout' for a login) allows, "
            f"while {doing}: the network or the server hangs. The query can be restarted; it goes on where it stopped."
        )
    if is_unreachable(error):
        return SourceUnavailable(
            f"the server {server} did not answer while {doing}: {reported}. Check 'hostname' and 'port', and that the "
            "server accepts connections from here (bind_address, firewall, max_connections)."
        )
    if is_refused(error):
        return SourceUnavailable(
            f"the server refused {server} while {doing}: {reported}. {_login_hint(number, is_plain=is_plain)}"
        )
    return SourceUnavailable(f"{doing} at {server} failed: {reported}.")


def _login_hint(number: int, *, is_plain: bool) -> str:
    """Return what to do about a refused login."""
    if number == _NEEDS_TLS:
        return (
            "It lets logins in over TLS only: set 'ssl.mode' to 'required', or to 'verify-ca' or 'verify-identity' "
            "with 'ssl.ca'."
        )
    check = "Check 'username', 'password' and the login's host; `tidemark mysql check` names missing privileges."
    needs_tls = " A login with REQUIRE SSL is refused like this without TLS: set 'ssl.mode' = 'required'."
    return check + (needs_tls if is_plain else "")


def _is_about_tls(error: pymysql.MySQLError) -> bool:
    return error_number(error) == CR.CR_CONN_HOST_ERROR and any(mark in str(error.args[-1]) for mark in _TLS_MARKS)
