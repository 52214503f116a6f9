# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The mercer authors
"""The directive `run`: commands that the build runs, in a folder of the page's own, and shows with what they print.

    ```{run}
    :expect: R\\^2 0\\.9
    mercer fit house.csv -o house.mercer
    ```

A command that fails, or prints nothing that matches `expect`, ends the build. `only` shows the printed lines that match."""
import os
import pathlib
import re
import shutil
import subprocess

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.errors import ExtensionError

HERE = pathlib.Path(__file__).resolve().parent


class Run(Directive):
    has_content = True
    option_spec = {"expect": directives.unchanged_required, "quiet": directives.flag, "only": directives.unchanged_required}

    def run(self):
        env = self.state.document.settings.env
        folder = pathlib.Path(os.environ["MERCER_SITE_WORK"]) / "run" / env.docname
        if not env.temp_data.get("run_begun"):
            env.temp_data["run_begun"] = True
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            for file in HERE.glob("programs/*"):
                shutil.copy(file, folder)
                env.note_dependency(str(file))
        commands = "\n".join(self.content)
        said = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expected = self.options.get("expect", "")
        if said.returncode or not re.search(expected, said.stdout):
            raise ExtensionError(f"{env.docname}, line {self.lineno}: {commands!r} ended with {said.returncode}, expected {expected!r} in\n{said.stdout}")
        lines = said.stdout.splitlines()
        if "only" in self.options:
            lines = [line for line in lines if re.search(self.options["only"], line)]
        shown = ["$ " + commands.replace("\n", "\n  ")] + ([] if "quiet" in self.options else lines)
        block = nodes.literal_block("\n".join(shown), "\n".join(shown))
        block["language"], block["force"] = "console", True  # of what is no console, such as programs in awk, the rest is coloured
        return [block]


def setup(app):
    app.add_directive("run", Run)
    return {"parallel_read_safe": False}
