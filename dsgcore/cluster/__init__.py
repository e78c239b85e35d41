"""Long runs on many workers: they share the visited rows, and the numbers equal those of one machine, bit for bit."""

from dsgcore.cluster.shared import ClusterError as ClusterError
from dsgcore.cluster.shared import SharedPoints as SharedPoints
from dsgcore.cluster.where import made_on as made_on
from dsgcore.cluster.where import where_made as where_made
