"""Long runs on many workers: the visited rows are shared out, and the numbers are those of one machine."""

from dsgcore.cluster.shared import ClusterError as ClusterError
from dsgcore.cluster.shared import SharedPoints as SharedPoints
from dsgcore.cluster.where import made_on as made_on
from dsgcore.cluster.where import where_made as where_made
