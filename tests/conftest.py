import os
import pickle
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

if "PYTEST_XDIST_WORKER" in os.environ:  # before NumPy is there: threads of several workers would wait for each other
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "DSGCORE_WORKERS"):
        os.environ.setdefault(name, "1")

sys.path.append(str(Path(__file__).parent / "benchmarks"))  # some of their measurements are tested

import cases
import numpy as np
import pytest
from hypothesis import settings
from room_phones import PICK, Phones, open_rooms
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest, app_test
from streamlit.util import calc_hash

from dsgcore.core.errors import DSGError
from dsgcore.data.reading import take_steps
from dsgcore.jobs import Job, JobQueue, JobState
from dsgcore.jobs.job import nothing
from dsgcore.kernels import Gaussian
from dsgcore.problems import SemiSupervisedAUC
from dsgcore.solver.task import Plan, Task
from dsgcore.studies import Store
from pages.session.bench import Bench, Drawing
from pages.shell.streamlit_gaps import ignore_pages_folder

ROOT = Path(__file__).parents[1]
# The files that take longest; the others follow in the order of their names.
LONGEST = (
    *("test_golden_pages", "test_golden_data", "test_lessons", "test_toys", "test_every_estimator", "test_links"),
    *("test_cli", "test_strangers_files", "test_file_on_pages", "test_comparing", "test_golden_commands"),
    *("test_golden_comparing", "test_stage", "test_convergence", "test_papers", "test_app", "test_docs"),
    *("test_studies", "test_server", "test_inside"),
)

# The browser's tests that each of two workers may drive a Chromium for: these, and all others of the folder.
READ_AND_ROOMS = (
    *("test_how_it_works_browser", "test_loading", "test_room_browser", "test_stage_browser", "test_workbench_layout"),
)

# The same examples in every run, and no limit in seconds: a busy machine must not fail a test.
settings.register_profile("dsgcore", deadline=None, derandomize=True)
settings.load_profile("dsgcore")


def switch_page(app, path):
    """Switch to the page at the address that the path's name is: `AppTest` knows those of files only, a setting has none."""
    app._page_hash = calc_hash(Path(path).stem)
    return app


AppTest.switch_page = switch_page


class RoutedPages(PagesManager):
    """The pages of the router alone, as on the server. `AppTest` takes a folder `pages/` for pages, and forgets this each time."""


ignore_pages_folder()
app_test.PagesManager = RoutedPages
# Each `AppTest` looks for components in all installed packages, which takes longer than a page: they are the same every time.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)


def pytest_configure(config):
    cases.is_everything_asked, cases.is_more_asked = not config.option.markexpr, "not ci" not in config.option.markexpr
    if not cases.is_more_asked:
        settings.register_profile("readme", settings.get_profile("dsgcore"), max_examples=30)
        settings.load_profile("readme")
    # Python 3.11 fails now and then where a traceback's source is parsed while another thread parses, too (SystemError, "AST
    # constructor recursion depth mismatch"), and the whole run with it: native tracebacks are not parsed.
    if sys.version_info < (3, 12) and config.option.tbstyle == "auto":
        config.option.tbstyle = "native"


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session):
    """Compile the loops once, before the workers begin: each of them would."""
    option, is_compiled = session.config.option, os.environ.get("NUMBA_DISABLE_JIT", "0") == "0"
    if not getattr(option, "numprocesses", None) or option.collectonly or not is_compiled:
        return
    command = [sys.executable, str(ROOT / ".ci" / "compile.py")]
    started = [subprocess.Popen([*command, dtype], cwd=ROOT) for dtype in ("float32", "float64")]
    for process in started:
        if process.wait():
            pytest.exit(f"{' '.join(map(str, process.args))} failed: the loops cannot be compiled", returncode=1)


def group_of(nodeid):
    """Return what one worker gets as a whole: a test's file, or one of the two halves of the browser's tests."""
    path = nodeid.partition("::")[0]
    if "browser/" not in path:
        return Path(path).stem
    return "browser, read and rooms" if Path(path).stem in READ_AND_ROOMS else "browser"


def pytest_collection_modifyitems(items):
    """Put what takes long first, so that no worker is left with it at the end."""
    rank = {group: number for number, group in enumerate(("browser", *LONGEST, "browser, read and rooms"))}
    items.sort(key=lambda item: rank.get(group_of(item.nodeid), len(rank)))


@pytest.hookimpl(optionalhook=True)  # without xdist there are no workers
def pytest_xdist_make_scheduler(config, log):
    """Give the tests of a group to one worker: one drives Chromium, the others do the rest."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return ByGroup(config, log)


@pytest.fixture(autouse=True, scope="session")
def pages_without_a_browser():
    """Draw pages as no browser does: at once, with all tabs, without frozen objects, and with background jobs in this process."""
    with pytest.MonkeyPatch.context() as patch:

        def with_tabs(*given, **more):  # the app draws those tabs that have been looked at
            opened = {"Limits", "Race", "Theory", "Details", "Data", "Code"}
            return Bench(*given, drawing=Drawing(opened=opened), **more)

        patch.setattr("pages.workbench.steering.Bench", with_tabs)
        # One's own file is read here: that takes no time, and test_data_hostile.py tries the page's way.
        patch.setattr("pages.controls.own_file.take_steps_apart", take_steps)
        # Nobody finds what refers to a frozen object: leaks would be missed, and hypothesis warns on Python 3.14.
        patch.setattr("gc.freeze", lambda: None)
        yield


@pytest.fixture(autouse=True)
def no_server_answers_ticks(monkeypatch):
    """Let scripts alone draw a run: a test that asks for the server's address would turn ticks on for all that come after it."""
    monkeypatch.setattr("pages.shell.ticks._is_served", threading.Event())


@pytest.fixture(autouse=True, scope="session")
def no_test_opens_a_persons_store(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DSGLAB_STORE", str(tmp_path_factory.mktemp("store") / "runs.sqlite"))
        yield


@pytest.fixture
def store(monkeypatch, tmp_path):
    """Give the app an empty store of its own, and return it."""
    monkeypatch.setenv("DSGLAB_STORE", str(tmp_path / "runs.sqlite"))
    return Store(tmp_path / "runs.sqlite")


@pytest.fixture
def jobs_here(monkeypatch):
    """Do each job of a queue in this process, before it is submitted in the background: other tests try the processes."""

    def submit(queue, function, *arguments, on_done=nothing, on_report=nothing, **options):
        job, given = Job.done(None), pickle.loads(pickle.dumps(arguments))

        def report(progress):
            job.progress = progress
            on_report(progress)

        try:
            job.result = function(*given, report=report)
            on_done(job.result)
        except DSGError as error:
            job.state, job.error = JobState.FAILED, str(error)
        return job

    monkeypatch.setattr(JobQueue, "submit", submit)


@pytest.fixture
def labeled_points():
    """Forty points in three dimensions: eight positive, ten negative, the rest unlabeled."""
    rng = np.random.default_rng(5)
    y = np.full(40, -1)
    y[:8], y[8:18] = 1, 0
    return rng.normal(size=(40, 3)), y


@pytest.fixture
def make_task(labeled_points):
    """Make a small AUC task; what is not said has a default."""

    def make(*, problem=None, kernel=None, dtype="float64", batch_size=4, seed=3, X=None, y=None, **plan):
        default_X, default_y = labeled_points
        X, y = default_X if X is None else X, default_y if y is None else y
        problem = (problem or SemiSupervisedAUC(gamma=0.4)).bind(y)
        usual = {"schedule": "constant", "step_size": 0.3, "lam": 0.2, "n_features": 7, "n_iter": 6}
        return Task(
            problem=problem,
            kernel=kernel or Gaussian(0.7),
            X=np.ascontiguousarray(X, dtype=dtype),
            rows=problem.rows(y),
            plan=Plan(**usual | plan),
            batch_size=batch_size,
            seed=seed,
            dtype=np.dtype(dtype),
        )

    return make


@pytest.fixture
def rooms(tmp_path, monkeypatch):
    """Give the rooms of a server, for phones that ask it without a network."""
    with open_rooms(tmp_path / "runs.sqlite", monkeypatch) as rooms:
        yield rooms


@pytest.fixture
def phones(rooms):
    """Give phones of one network."""
    return Phones()


@pytest.fixture
def room(rooms):
    """Give the key of a room that is asked `PICK`."""
    key = rooms.open()
    rooms.ask(key, PICK)
    return key
