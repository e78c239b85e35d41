"""Long runs on many workers: they share the visited rows, and the numbers equal those of one machine, bit for bit."""

from dsgcore.cluster.checkpoint import made_on as made_on
from dsgcore.cluster.checkpoint import where_made as where_made
from dsgcore.cluster.shared import ClusterError as ClusterError
from dsgcore.cluster.shared import SharedPoints as SharedPoints
