"""Follow every link of a built site; the site is read as it stands on disk.

Exit status 1, with one line each, where a link or an anchor leads nowhere, or where a page
would fetch something from elsewhere (a font, a script, a picture). Links that a reader may
click and that leave the site are counted, not followed.
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that a browser fetches by itself; `link` has relations that it does not fetch.
_FETCHED = {"src", "srcset", "data", "poster"}
_NOT_FETCHED = {"canonical", "alternate", "next", "prev", "author", "license"}


class Page(HTMLParser):
    """The ids of a page, what it links to, and what it fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids.update(given[name] for name in ("id", "name") if name in given)
        href = given.get("href")
        if tag == "a" and href is not None:
            self.links.append(href)
        elif tag == "link" and href and given.get("rel") not in _NOT_FETCHED:
            self.fetched.append(href)
        self.fetched += [given[name] for name in _FETCHED & set(given) if tag != "a"]


def problems(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """What leads nowhere, or would be fetched, a line each."""
    for path, page in pages.items():
        where = path.relative_to(site)
        for target in page.fetched:
            if urlsplit(target).netloc:
                yield f"{where}: a browser would fetch {target}"
        for target in [*page.links, *page.fetched]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            # The page for what is not found is served at any address: its links are absolute.
            start = site if parts.path.startswith("/") else path.parent
            named = unquote(parts.path).lstrip("/")
            file = (start / named).resolve() if named else path
            if file.is_dir():
                file /= "index.html"
            if not file.exists():
                yield f"{where}: {target} leads nowhere"
            elif parts.fragment and file in pages:
                anchor = unquote(parts.fragment)
                if anchor not in pages[file].ids and not anchor.startswith("__"):
                    yield f"{where}: {target} has no such anchor"


def main(site: Path) -> int:
    """Check; the exit status."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    found = list(problems(site.resolve(), pages))
    for line in found:
        print(line)
    followed = sum(len(page.links) for page in pages.values())
    print(f"{len(pages)} pages, {followed} links, {len(found)} problems")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
