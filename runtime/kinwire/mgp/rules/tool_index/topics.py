"""Which category follows from a word in the name of a tool (MGP 0.2.0 section 16.4).

Used for a tool without categories of its own: `read_file` is in `filesystem` and `read`.
"""

from __future__ import annotations

__all__ = ("ACTIONS", "TOPICS")

from typing import Final


def _by_word(lines: str) -> dict[str, str]:
    """Return the first word of the line that a word is in."""
    table = [line.partition(":") for line in lines.strip().splitlines()]
    return {word: category for category, _, words in table for word in words.split()}


TOPICS: Final = _by_word(
    """
calendar: appointment calendar event meeting schedule
chart: chart diagram graph plot visualization
code: code commit git github gitlab lint repo repository
database: collection database db mysql postgres redis sql sqlite table
document: doc document docx excel markdown pdf powerpoint ppt pptx sheet slide spreadsheet word
filesystem: directories directory file files filesystem folder path
finance: crypto currency exchange finance invoice payment price stock ticker
image: canvas image images photo picture screenshot svg
location: address geocode latitude location map place places route
mail: email gmail inbox mail smtp
memory: entities graph knowledge memories memory note notes recall remember
message: channel chat message messages slack telegram
music: audio music song sound track
network: browser dns domain fetch http page site url web website whois
news: headlines news trending
process: command container docker exec process processes shell terminal
science: arxiv paper papers pubmed
time: clock date time timezone
video: movie video youtube
weather: forecast weather
"""
)
"""By word in a name: what the tool is about."""

ACTIONS: Final = _by_word(
    """
analyze: analyze calculate check compare compute count describe diff evaluate inspect validate
convert: convert decode encode format parse render transform translate
create: add append build create draft generate init insert make new
delete: clear delete drop erase purge remove reset revoke truncate uninstall unlink
read: cat fetch get list load open read retrieve show status view
run: call execute invoke kill launch restart run start stop terminate
search: discover find grep lookup query search
send: deploy notify post publish push reply send share submit upload
update: apply change edit manage merge modify move patch rename replace set sort update write
"""
)
"""By word in a name: what the tool does; the first such word counts."""
