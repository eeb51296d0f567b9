"""What MkDocs calls: generated pages join those that are written, and stand in the navigation below their index."""

from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.generate import notebooks, places, whole
from vmodel.cli.main import COMMANDS
from vmodel.library.profile import shipped
from vmodel.library.tables import path_names


def below(index: str) -> list[dict[str, str]]:
    """The pages that belong below an index page; none below any other page."""
    kinds = {
        places.COMMANDS: (COMMANDS, places.command_page),
        places.PATHS: (path_names(), places.path_page),
        places.PROFILES: (shipped(), places.profile_page),
    }
    if index == places.NOTEBOOKS:
        return [{notebooks.title(path): notebooks.address(path)} for path in notebooks.files()]
    names, page = kinds.get(index, ((), places.path_page))
    return [{name: page(name)} for name in names]


def grown(nav: Any) -> Any:
    """The navigation with every index page opened to a section, and the notebooks put into theirs."""
    if isinstance(nav, list):
        return [grown(item) for item in nav]
    if isinstance(nav, dict):
        return {title: grown(item) for title, item in nav.items()}
    found = below(nav)
    if nav == places.NOTEBOOKS:
        return found
    return [nav, *found] if found else nav


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Open the index pages of the navigation."""
    config.nav = grown(config.nav)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add every generated page."""
    for address, text in whole.pages().items():
        files.append(File.generated(config, address, content=text))
    return files
