"""The workbench itself switches on Colab's widget manager for third-party widgets."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from tests.waiting import LIMIT_SECONDS

HERE = Path(__file__).parent
VIEW = "application/vnd.jupyter.widget-view+json"
SHOWN = "from workbench import Workbench\nWorkbench()"

pytestmark = pytest.mark.slow


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    """A real kernel with Colab's variables and a stand-in for its module, not imported yet."""
    added = os.pathsep.join([str(HERE / "stand_in"), str(HERE.parents[1])])
    signs = {"COLAB_RELEASE_TAG": "any", "PYTHONPATH": added, "WORKBENCH_STATE": str(tmp_path)}
    manager, client = start_new_kernel(cwd=str(tmp_path), env={**os.environ, **signs})
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def displayed(kernel: BlockingKernelClient, code: str) -> list[dict[str, Any]]:
    """Return the outputs that a cell displays."""
    outputs: list[dict[str, Any]] = []

    def collect(message: dict[str, Any]) -> None:
        if message["msg_type"] == "display_data":
            outputs.append(message["content"])

    reply = kernel.execute_interactive(code, output_hook=collect, timeout=LIMIT_SECONDS)
    assert reply["content"]["status"] == "ok", reply["content"]
    return outputs


def test_the_live_view_names_the_widget_manager(kernel: BlockingKernelClient) -> None:
    live = next(output for output in displayed(kernel, SHOWN) if VIEW in output["data"])
    assert live["metadata"][VIEW]["colab"]["custom_widget_manager"]["url"].endswith("manager.js")


def test_the_widget_manager_is_switched_on_again_after_a_user_switched_it_off(
    kernel: BlockingKernelClient,
) -> None:
    displayed(kernel, "import google.colab.output as output\n" + SHOWN)
    displayed(kernel, "output._widgets._installed_url = None\n" + SHOWN)
    assert displayed(kernel, "assert output._widgets._installed_url") == []


def test_outside_colab_its_module_is_not_imported(kernel: BlockingKernelClient) -> None:
    displayed(kernel, "import os; del os.environ['COLAB_RELEASE_TAG']\n" + SHOWN)
    displayed(kernel, "import sys; assert 'google.colab.output' not in sys.modules")
