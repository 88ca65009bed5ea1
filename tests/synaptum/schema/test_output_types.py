"""Structured answers: asked for by schema, read back into their type."""

import dataclasses
import enum

import pytest

from synaptum.errors import ConfigurationError
from synaptum.schema import output_type
from synaptum.schema.problems import SchemaProblemError
from synaptum.wording import ENGLISH


class Level(enum.Enum):
    LOW = "low"


@dataclasses.dataclass
class Report:
    code: str
    level: Level | None = None


def test_a_dataclass_is_asked_for_by_its_schema_and_name():
    wanted = output_type(Report).response_format

    assert (wanted.kind, wanted.name) == ("json_schema", "Report")
    assert wanted.schema["required"] == ["code"]


@pytest.mark.parametrize(
    "text",
    [
        '{"code": "use ```sh\\nls\\n``` here"}',
        '```json\n{"code": "use ```sh\\nls\\n``` here"}\n```',
        '  ```\n{"code": "use ```sh\\nls\\n``` here"}```\n',
        '```json\r\n{"code": "use ```sh\\nls\\n``` here"}\r\n```',
        '```json {"code": "use ```sh\\nls\\n``` here"}```',
    ],
)
def test_a_fence_around_the_whole_answer_changes_nothing(text):
    assert output_type(Report).read_text(text) == Report("use ```sh\nls\n``` here")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Run:\n```bash\necho '{}'\n```\nthen see docs",
        'Here it is:\n```json\n{"code": "x"}\n```',
        '{"code": "x"} {"code": "y"}',
        '{"code": "x", "code": "y"}',
        '{"code": "x"',
    ],
)
def test_an_answer_that_is_not_one_json_value_is_refused(text):
    with pytest.raises(SchemaProblemError) as caught:
        output_type(Report).read_text(text)

    assert caught.value.problem.code == "not_json"
    assert "not one JSON value" in caught.value.problem.text(ENGLISH.problems)


def test_an_enum_arrives_as_its_member_and_an_unknown_word_is_refused():
    report = output_type(Report)

    assert report.read_text('{"code": "x", "level": "low"}') == Report("x", Level.LOW)
    assert report.read_text('{"code": "x", "level": null}') == Report("x", None)
    with pytest.raises(SchemaProblemError, match="not_among"):
        report.read_text('{"code": "x", "level": "zzz"}')


def test_an_output_goes_to_json_and_back():
    report = output_type(Report)

    assert report.dump(Report("x", Level.LOW)) == {"code": "x", "level": "low"}
    assert report.read(report.dump(Report("x", Level.LOW))) == Report("x", Level.LOW)


def test_a_json_schema_gives_plain_json_that_fits_it():
    wanted = output_type({"title": "A list!", "type": "array", "items": {"type": "integer"}})

    assert wanted.name == "A_list_"
    assert wanted.read_text("[1, 2]") == [1, 2]
    with pytest.raises(SchemaProblemError, match=r"\$\[0\]"):
        wanted.read_text('["x"]')


def test_a_pydantic_model_is_an_output_type():
    pydantic = pytest.importorskip("pydantic")

    class Snapshot(pydantic.BaseModel):
        ticker: str
        price: float

        @pydantic.field_validator("price")
        @classmethod
        def positive(cls, value):
            if value <= 0:
                raise ValueError("a price is above zero")
            return value

    wanted = output_type(Snapshot)

    assert wanted.schema["required"] == ["ticker", "price"]
    assert wanted.read_text('{"ticker": "N", "price": 2}') == Snapshot(ticker="N", price=2.0)
    assert wanted.dump(Snapshot(ticker="N", price=2.0)) == {"ticker": "N", "price": 2.0}
    with pytest.raises(SchemaProblemError) as caught:
        wanted.read_text('{"ticker": "N", "price": -1}')
    assert caught.value.problem.path == "$.price"
    assert "a price is above zero" in caught.value.problem.text(ENGLISH.problems)


@pytest.mark.parametrize("output", [int, list[int], Report("x"), "Report", {"type": "thing"}])
def test_what_is_no_output_type_is_refused(output):
    with pytest.raises(ConfigurationError, match="output="):
        output_type(output)
