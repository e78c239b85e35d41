"""The papers' data sets from their public archives, for machines with a network."""

from dsgcore.data.downloads.archives import REMOTE_SETS, RemoteSet
from dsgcore.data.downloads.fetching import cache_folder, cached, fetch, remote_set
from dsgcore.data.downloads.transfer import Patience, download

__all__ = ["REMOTE_SETS", "Patience", "RemoteSet", "cache_folder", "cached", "download", "fetch", "remote_set"]
