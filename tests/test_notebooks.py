"""The notebooks run from beginning to end, and carry no outputs."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def code_of(path):
    return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    cells = code_of(path)
    assert len(cells) > 4
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_they_run(path, tmp_path):
    reason = 'no Jupyter: pip install "w2vneg[notebook]"'
    nbformat = pytest.importorskip("nbformat", reason=reason)
    client = pytest.importorskip("nbclient", reason=reason)
    pytest.importorskip("ipykernel", reason=reason)
    notebook = nbformat.read(path, as_version=4)
    client.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    kinds = {kind for output in outputs for kind in output.get("data", {})}
    assert "image/png" in kinds and "application/vnd.plotly.v1+json" in kinds
    if path.stem == "items":
        right = notebook.cells[-1].outputs[0].data["text/plain"]
        assert float(right.removeprefix("np.float64(").rstrip(")")) > 0.9  # a quarter would be chance
