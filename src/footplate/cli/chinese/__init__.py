"""The command's own words in Chinese, by their English."""

from footplate.cli.chinese.click import CLICK
from footplate.cli.chinese.heads import HEADS
from footplate.cli.chinese.help import HELP
from footplate.cli.chinese.phrases import PHRASES
from footplate.cli.chinese.verbs import VERBS

CHINESE = {**CLICK, **HEADS, **VERBS, **HELP, **PHRASES}
