"""The papers' data sets from their public archives, for machines with a network."""

from dsgcore.data.downloads.fetching import REMOTE_SETS as REMOTE_SETS
from dsgcore.data.downloads.fetching import RemoteSet as RemoteSet
from dsgcore.data.downloads.fetching import cached as cached
from dsgcore.data.downloads.fetching import fetch as fetch
from dsgcore.data.downloads.fetching import remote_set as remote_set
from dsgcore.data.downloads.transfer import Patience as Patience
from dsgcore.data.downloads.transfer import download as download
