"""The command's own words in Chinese, by their English."""

from footplate.cli.chinese.alerts import ALERTS
from footplate.cli.chinese.click import CLICK
from footplate.cli.chinese.cost import COST
from footplate.cli.chinese.files import FILES
from footplate.cli.chinese.firstfile import FIRST_FILE
from footplate.cli.chinese.heads import HEADS
from footplate.cli.chinese.help import HELP
from footplate.cli.chinese.models import MODELS
from footplate.cli.chinese.phrases import PHRASES
from footplate.cli.chinese.verbs import VERBS

TABLES = (CLICK, HEADS, VERBS, HELP, PHRASES, FILES, FIRST_FILE, MODELS, ALERTS, COST)
CHINESE = {english: chinese for table in TABLES for english, chinese in table.items()}
