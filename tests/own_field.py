"""What the workbench makes of the field `weight_decay`, which `test_fields.py` adds, as JSON."""

import argparse
import json
import sys

from tests.machines import LAPTOP
from workbench import RunConfig, make_plan, render_script
from workbench.cli.flags import add_config_flags, config_from
from workbench.errors import find
from workbench.plan import PlanError
from workbench.schema import config_schema
from workbench.scripts import read_script
from workbench.widgets.form.form import Form

parser = argparse.ArgumentParser()
add_config_flags(parser)
config = config_from(parser.parse_args(["--weight-decay", "0.2"]))
form = Form(config, LAPTOP)
(field,) = form.parts.named("weight_decay")
field.control.value = "-1"
script = render_script(make_plan(config, LAPTOP))
edited = read_script(script.replace("WEIGHT_DECAY = 0.2", "WEIGHT_DECAY = 0.4"), LAPTOP)
try:
    make_plan(RunConfig(weight_decay=-1), LAPTOP)  # type: ignore[call-arg]
except PlanError as error:
    (problem,) = error.problems
json.dump(
    {
        "flag": config.weight_decay,  # type: ignore[attr-defined]
        "help": parser.format_help(),
        "file": RunConfig.from_json(config.to_json()) == config,
        "label": field.label,
        "beside the field": field.problems,
        "problem": str(problem),
        "problems": [each.cause for each in find("weight_decay")],
        "schema": config_schema()["properties"]["weight_decay"]["minimum"],
        "script": script,
        "opened": edited.config.weight_decay,  # type: ignore[attr-defined]
    },
    sys.stdout,
)
