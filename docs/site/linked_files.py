"""A hook of MkDocs: files of the project that pages link to, such as results and examples, become files of the site.

Pages link as in the repository, so that they read the same in both. A link that leaves `docs/` is rewritten to
`project/`, where the file is copied; a Markdown file is a page there, and its own links are followed. A folder becomes
a page that lists its files.
"""

from __future__ import annotations

import os.path
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
DOCS = "docs"
COPIES = "project"
INDEX = "index.md"
ALWAYS = ("watermark/DESIGN.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
_LINK = re.compile(r"\]\(([^()\s#]*)(#[^()\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the linked files."""
    waiting = [*ALWAYS, *(f"{DOCS}/{file.src_uri}" for file in files.documentation_pages())]
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        if (ROOT / path).is_dir():
            listed = sorted(each.name for each in (ROOT / path).iterdir() if each.is_file())
            lines = "\n".join(f"* [{name}]({name})" for name in listed)
            files.append(File.generated(config, f"{COPIES}/{path}/{INDEX}", content=f"# {path}\n\n{lines}\n"))
            waiting += [f"{path}/{name}" for name in listed]
        elif not _is_in_docs(path):
            files.append(File.generated(config, f"{COPIES}/{path}", abs_src_path=str(ROOT / path)))
        if path.endswith(".md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            waiting += [target for link, _ in _LINK.findall(text) if (target := _target(path, link))]
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Rewrite the links of a page that leave its folder of the site."""
    uri = page.file.src_uri
    own = uri.removeprefix(f"{COPIES}/") if uri.startswith(f"{COPIES}/") else f"{DOCS}/{uri}"

    def rewritten(match: re.Match[str]) -> str:
        target = _target(own, match[1])
        if target is None:
            return match[0]
        if (ROOT / target).is_dir():
            target = f"{target}/{INDEX}"
        goal = target.removeprefix(f"{DOCS}/") if _is_in_docs(target) else f"{COPIES}/{target}"
        return f"]({_relative(uri, goal)}{match[2] or ''})"

    return _LINK.sub(rewritten, markdown)


def _target(path: str, link: str) -> str | None:
    """Return what a link names, from the project's root; None for one within its page or to elsewhere."""
    if not link or ":" in link or link.startswith("/"):
        return None
    found = os.path.normpath(PurePosixPath(path).parent / link)
    return found if (ROOT / found).exists() else None


def _is_in_docs(path: str) -> bool:
    return path.startswith(f"{DOCS}/")


def _relative(uri: str, goal: str) -> str:
    return os.path.relpath(goal, PurePosixPath(uri).parent)
