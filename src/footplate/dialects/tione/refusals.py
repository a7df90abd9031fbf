"""What TI-ONE calls our errors, and the frame of all its answers."""

from __future__ import annotations

from typing import Any

from footplate.domain import errors as e

_SAID = {
    "access_key_wrong": "AuthFailure.SignatureFailure",
    "signature_missing": "AuthFailure.SignatureFailure",
    "signature_too_old": "AuthFailure.SignatureExpire",
    "job_name_taken": "FailedOperation.DuplicateName",
    "model_name_taken": "FailedOperation.DuplicateName",
    "action_unknown": "InvalidAction",
    "action_not_offered": "UnsupportedOperation",
    "file_not_there": "InvalidParameterValue.CosPathNotExist",
    "storage_not_visible": "InvalidParameterValue.CosPathNotExist",
}
_FIELDS = {
    "Name": "InvalidParameterValue.BadName",
    "SchedulePolicy.BackOffLimit": "InvalidParameterValue.BackOffLimitIllegal",
}
_KINDS: tuple[tuple[type[e.FootplateError], str], ...] = (
    (e.Unauthenticated, "AuthFailure"),
    (e.Denied, "AuthFailure.UnauthorizedOperation"),
    (e.NotFound, "FailedOperation.RecordNotFound"),
    (e.InvalidInput, "InvalidParameter.ValidateError"),
    (e.Conflict, "FailedOperation.NotAllow"),
    (e.Throttled, "RequestLimitExceeded"),
    (e.DiskFull, "ResourceInsufficient"),
    (e.EngineRejected, "InvalidParameter"),
)


def code_of(error: e.FootplateError) -> str:
    problems = error.problems if isinstance(error, e.InvalidInput) else ()
    for said in (error.said.code, *(one.said.code for one in problems)):
        if said in _SAID:
            return _SAID[said]
    for one in problems:
        if one.path in _FIELDS:
            return _FIELDS[one.path]
    return next((code for kind, code in _KINDS if isinstance(error, kind)), "InternalError")


def answer(response: dict[str, Any], request_id: str) -> dict[str, Any]:
    return {"Response": {**response, "RequestId": request_id}}


def refusal(code: str, message: str, request_id: str) -> dict[str, Any]:
    return answer({"Error": {"Code": code, "Message": message}}, request_id)
