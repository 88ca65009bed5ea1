"""A company with 20 engineers and 200 KB of expenses: the data is invented, and always the same."""

from __future__ import annotations

from synaptum import tool

#: The control flow of the programmatic-tool-calling example, in words of our own.
EXPENSE_SCRIPT = """\
import asyncio
import json


async def main():
    people = await get_team_members("engineering")
    levels = list({person["level"] for person in people})
    limits = dict(zip(levels, await asyncio.gather(*map(get_budget_by_level, levels))))
    spent = await asyncio.gather(*(get_expenses(person["id"], "Q3") for person in people))
    over = []
    for person, rows in zip(people, spent):
        total = sum(row["amount"] for row in rows)
        limit = limits[person["level"]]["travel_limit"]
        if total > limit:
            over.append({"name": person["name"], "spent": total, "limit": limit})
    print(json.dumps(over))


asyncio.run(main())
"""

_LEVELS = ("junior", "mid", "senior", "staff")
_LIMITS = {"junior": 45_000, "mid": 47_000, "senior": 49_000, "staff": 51_000}


class Company:
    """Its three tools, and the answer to expect."""

    def __init__(self) -> None:
        self._people = [
            {"id": f"e{n:02d}", "name": f"Engineer {n:02d}", "level": _LEVELS[n % 4]}
            for n in range(20)
        ]

        @tool(idempotent=True)
        async def get_team_members(department: str) -> list[dict[str, str]]:
            """The members of a department."""
            return self._people if department == "engineering" else []

        @tool(idempotent=True)
        async def get_budget_by_level(level: str) -> dict[str, object]:
            """The travel budget of a level."""
            return {"level": level, "travel_limit": _LIMITS[level]}

        @tool(idempotent=True)
        async def get_expenses(employee_id: str, quarter: str) -> list[dict[str, object]]:
            """The expenses of an employee in a quarter."""
            return self.expenses(employee_id)

        self.tools = [get_team_members, get_budget_by_level, get_expenses]

    def expenses(self, employee_id: str) -> list[dict[str, object]]:
        """110 rows."""
        number = int(employee_id[1:])
        return [
            {
                "row": f"{employee_id}-{row:03d}",
                "category": ("travel", "lodging", "meals")[row % 3],
                "amount": 300 + (row * 37 + number * 101) % 300,
                "note": "receipt on file",
                "approved": row % 5 != 0,
            }
            for row in range(110)
        ]

    def over_budget(self) -> list[dict[str, object]]:
        """Who spent more than their level may."""
        found: list[dict[str, object]] = []
        for person in self._people:
            spent = sum(int(str(row["amount"])) for row in self.expenses(person["id"]))
            limit = _LIMITS[person["level"]]
            if spent > limit:
                found.append({"name": person["name"], "spent": spent, "limit": limit})
        return found
