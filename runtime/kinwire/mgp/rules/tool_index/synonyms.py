"""Words that tools and those who look for them use for one thing (MGP 0.2.0 section 16.4).

A general list: verbs that names of tools begin with, words of files and the web, and short forms.
A word finds what the others of its group find, with less weight.
"""

from __future__ import annotations

__all__ = ("SYNONYMS",)

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from kinwire.mgp.rules.tool_index.words import stem

_GROUPS: Final = """
add append insert
alter change edit modify update
app application
archive compress zip
article paper publication
ask prompt question
audio music sound song
auth authenticate authentication authorization login
begin launch start
build compile
buy order purchase
calculate calc compute evaluate
calendar schedule
chart diagram graph plot
chat conversation message
check validate verify
close end stop
clone copy duplicate
cmd command shell terminal
combine join merge
company corporation firm
config configuration preference setting
convert transform turn
cost price
create generate make
currency exchange money
database db
delete erase remove
dependency package library
deploy publish release
describe explain
detail info information
dir directory folder
doc document docx word
download fetch
email mail
env environment
error exception failure
event meeting appointment
excel spreadsheet xls xlsx
execute run
extract parse
fetch get obtain retrieve
find locate lookup search
geocode coordinate latitude longitude
gif image img jpeg photo picture png
host server
house home
internet web
js javascript
kill stop terminate
latest newest recent
link url hyperlink
list enumerate
location place address
map route direction
move rename
movie film video
msg message notification
open view
page website site
param parameter argument
payment invoice billing
pdf acrobat
person people user
pic picture
powerpoint ppt pptx presentation slide
py python
record row
remember memory
repo repository
restart reboot
save store write
script code program
send post
share stock ticker
show display view
sql query
summarize summary abstract
table grid
task todo
test check
text string
time clock
train railway
translate translation
ts typescript
weather forecast
"""


def _by_stem() -> dict[str, tuple[str, ...]]:
    groups = defaultdict[str, dict[str, None]](dict)
    for line in _GROUPS.split("\n"):
        stems = dict.fromkeys(map(stem, line.split()))
        for one in stems:
            groups[one].update(stems)
    return {one: tuple(word for word in group if word != one) for one, group in groups.items()}


SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = _by_stem()
"""By stem: the stems of words with a like meaning."""
