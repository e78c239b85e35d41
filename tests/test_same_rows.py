"""One study by the page, by the command line and on a cluster of two processes: the same rows; with one store, the same bytes."""

import json

import pytest
from opened_pages import checked
from test_explore import looked_at, opened

from dsgcore.__main__ import main
from dsgcore.studies import Store, table_of

SMALL = {
    "x_n_iter": "16",
    "x_batch_size": "8",
    "x_n_features": "8",
    "x_seeds": "2",
    "x_step_size_n": "3",
    "x_sigma_n": "2",
}
SECONDS = 240


@pytest.fixture(scope="module")
def by_page(tmp_path_factory):
    """The study that the page has made: its store, its table, and its plain data as a file."""
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSGLAB_STORE", str(folder / "runs.sqlite"))
        app = checked(opened(**SMALL).button(key="study-start").click().run())
        assert looked_at(app).job.wait(SECONDS)
        made = looked_at(checked(app.run())).made
    made.refresh(Store(folder / "runs.sqlite"))
    (folder / "study.json").write_text(json.dumps(made.study.to_dict()))
    return folder, table_of(made.study, made.outcomes())


def swept(by_page, store, csv, *options):
    folder, _ = by_page
    assert (
        main(["sweep", str(folder / "study.json"), "--store", str(store), "--csv", str(csv), "--quiet", *options]) == 0
    )
    return csv.read_bytes()


def but_for_seconds(content):
    """Return the rows as bytes, without the times, which differ between repetitions."""
    place = content.splitlines()[0].split(b",").index(b"seconds")
    return [cells[:place] + cells[place + 1 :] for cells in (line.split(b",") for line in content.splitlines())]


def test_the_page_makes_every_run_and_the_command_on_its_store_writes_the_same_bytes(by_page, tmp_path):
    folder, table = by_page
    assert len(table.splitlines()) == 1 + 3 * 2 * 2
    assert table.count(",finished,") == 12
    before = len(Store(folder / "runs.sqlite"))
    assert swept(by_page, folder / "runs.sqlite", tmp_path / "again.csv") == table.encode()
    assert len(Store(folder / "runs.sqlite")) == before == 12  # none made twice


def test_the_command_makes_the_same_rows_by_itself(by_page, tmp_path):
    rows = swept(by_page, tmp_path / "own.sqlite", tmp_path / "own.csv", "--jobs", "2")
    assert but_for_seconds(rows) == but_for_seconds(by_page[1].encode())


@pytest.mark.weekly
@pytest.mark.filterwarnings("ignore")  # the cluster's own, as its processes go
def test_two_processes_of_a_dask_cluster_make_the_same_rows(by_page, tmp_path):
    from clusters import cluster_of  # skips where distributed is not installed

    with cluster_of(2) as cluster:
        address = cluster.scheduler_address
        rows = swept(by_page, tmp_path / "dask.sqlite", tmp_path / "dask.csv", "--dask", address)
    assert but_for_seconds(rows) == but_for_seconds(by_page[1].encode())
